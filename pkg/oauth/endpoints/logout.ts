import type { Request, RequestHandler, Response } from 'express'
import type { ClientConfig } from '../../config/client.ts'
import { endLogin } from '../../iam/end-login.ts'
import type { IdTokenHint } from '../../token/verify.ts'
import { audited } from '../audited.ts'
import { endBrowserLogin, readBrowserLogin } from '../browser/session.ts'
import { toUpstreamLogout } from '../browser/upstream-logout.ts'
import { requireCallerLogin } from '../caller-login.ts'
import { oauthError } from '../error.ts'
import { type Form, readParameters } from '../form.ts'
import { takesHtml } from '../pages/wrong-page.ts'
import { readCaller, type Standing } from '../standing.ts'
import type { EndpointOptions } from './options.ts'

type Presented = {
  readonly hint: IdTokenHint | undefined
  readonly caller: Standing | undefined
  readonly clientId: string | undefined
}

/**
 * GET and POST /oauth/logout. The login of the bearer ends, or that of the id_token_hint (OpenID Connect RP-Initiated
 * Logout); with `all=true` every login of the bearer's user does, which takes the access token of a login: a personal access token
 * ends itself and nothing else. Who comes with neither is logged out already.
 */
export function createLogout({ issuer, registry, tools, audit }: EndpointOptions): RequestHandler {
  /** Where to go afterwards. It is judged first: whoever sends somebody astray must not log him out either. */
  function findTarget(form: Form, clientId: string | undefined): string | undefined {
    const uri = form.get('post_logout_redirect_uri')
    if (uri === undefined) return undefined
    const client = clientId === undefined ? undefined : registry.find(clientId)?.client
    if (!client?.postLogoutRedirectURIs.includes(uri)) throw notAllowed(client)
    const state = form.get('state')
    if (state === undefined) return uri
    return `${uri}${uri.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`
  }

  async function readHint(token: string | undefined): Promise<IdTokenHint | undefined> {
    if (token === undefined) return undefined
    const hint = await tools.verifier.readIdTokenHint(token)
    if (hint === undefined) throw invalid('the parameter id_token_hint is no ID token of this issuer')
    return hint
  }

  async function readPresented(req: Request, form: Form): Promise<Presented> {
    const hint = await readHint(form.get('id_token_hint'))
    const caller = await readCaller(tools, req)
    const clientId = form.get('client_id') ?? hint?.clientId ?? caller?.claims.clientId
    if (hint !== undefined && clientId !== hint.clientId)
      throw invalid('the parameter client_id is not the client of the id_token_hint')
    return { hint, caller, clientId }
  }

  async function endEvery({ caller }: Presented): Promise<void> {
    // A hint is shown around by clients: it ends what it names and no more.
    if (caller === undefined) throw invalid(needsLogin)
    await requireCallerLogin(tools, caller, needsLogin)
    for (const session of await tools.sessions.list(caller.user.name))
      if (session.type === '' || session.type === 'Browser')
        await endLogin(tools.sessions, session, 'logout of every login')
  }

  async function end({ caller, hint }: Presented): Promise<void> {
    for (const sid of new Set([caller?.claims.sid, hint?.sid])) {
      const session = sid === undefined ? undefined : await tools.sessions.read(sid)
      if (session !== undefined) await endLogin(tools.sessions, session, 'logout')
    }
  }

  return audited(audit, 'logout', async (req, res, event) => {
    const form = readParameters(req)
    const isAll = readFlag(form, 'all')
    const presented = await readPresented(req, form)
    const { caller, hint, clientId } = presented
    const target = findTarget(form, clientId)
    Object.assign(event, {
      client: clientId,
      user: caller?.user.name ?? hint?.sub,
      sid: caller?.claims.sid ?? hint?.sid,
    })
    if (isAll) await endEvery(presented)
    await end(presented)
    const whose = caller?.user.name ?? hint?.sub
    await leave({ req, res }, { whose, target })
  })

  /** The browser's own login ends too, or the next one would be through before anybody saw it. */
  async function leave({ req, res }: Exchange, { whose, target }: Leaving): Promise<void> {
    const browser = await readBrowserLogin(tools, req)
    const isOwn = browser !== undefined && browser.user.name === whose
    if (isOwn) await endBrowserLogin(tools, { req, res }, 'logout')
    res.set({ 'cache-control': 'no-store', pragma: 'no-cache' })
    const isPerson = target !== undefined || takesHtml(req)
    const upstream =
      isOwn && isPerson ? await toUpstreamLogout({ tools, issuer, req }, browser, target) : undefined
    const next = upstream ?? target
    if (next !== undefined) res.redirect(302, next)
    else if (!isPerson) res.json({ message: 'success' })
    // Anybody can send a browser here: its user is asked first.
    else if (browser !== undefined && whose === undefined) res.redirect(302, '/oauth/session')
    else res.redirect(302, '/oauth/logged-out')
  }
}

const needsLogin = 'all=true needs the access token of the login'

type Exchange = { readonly req: Request; readonly res: Response }
type Leaving = { readonly whose: string | undefined; readonly target: string | undefined }

function readFlag(form: Form, name: string): boolean {
  const given = form.get(name) ?? 'false'
  if (given !== 'true' && given !== 'false') throw invalid(`the parameter ${name} must be true or false`)
  return given === 'true'
}

function notAllowed(client: ClientConfig | undefined) {
  return client === undefined
    ? invalid('post_logout_redirect_uri needs id_token_hint, client_id or the access token of the login')
    : invalid('the parameter post_logout_redirect_uri is not one of the client')
}

function invalid(description: string) {
  return oauthError(400, 'invalid_request', description)
}
