import type { Request, RequestHandler, Response } from 'express'
import { html } from '../../httpserver/response/html-template.ts'
import { endLogin } from '../../iam/sessions/revoke-session.ts'
import type { IdTokenHint } from '../../jwt/verify.ts'
import type { BrowserOptions } from '../browser/dependencies.ts'
import {
  isWithoutLoginCookie,
  logOut,
  logOutOrAsk,
  toConfirmationPath,
} from '../browser/logout-confirmation.ts'
import { maxReturnTo, toLoginPath } from '../browser/return-to.ts'
import { readBrowserLogin } from '../browser/session.ts'
import { type ErrorPageLink, takesHtml, withAuditedErrorPage } from '../pages/error-page.ts'
import type { TokenEvent } from '../server/audit.ts'
import { invalidRequest } from '../server/error.ts'
import { type Form, readParameters } from '../server/form.ts'
import { requireCallerLogin } from '../tokens/caller-login.ts'
import { readCaller, type ValidToken } from '../tokens/token-validation.ts'

type LogoutCredentials = {
  readonly hint: IdTokenHint | undefined
  readonly caller: ValidToken | undefined
  readonly clientId: string | undefined
}

/**
 * GET and POST /oauth/logout. A request with a bearer token ends the login of the token, and with
 * `all=true` all logins of its user; a personal access token only ends itself. A browser redirected
 * by a client sends id_token_hint (OpenID Connect RP-Initiated Logout 1.0). A browser without a
 * hint gets a page that asks whether to end the browser session.
 */
export function createLogout(options: BrowserOptions): RequestHandler {
  const { registry, tools, audit } = options

  /** Returns the valid redirect URI; called first, as an invalid request ends no login. */
  function findTarget(form: Form, clientId: string | undefined): string {
    const uri = form.get('post_logout_redirect_uri')
    if (uri === undefined) return ''
    const client = clientId === undefined ? undefined : registry.find(clientId)?.client
    if (clientId === undefined) throw invalidRequest(needsClient)
    if (client === undefined) throw invalidRequest('the OAuth client was not found')
    if (!client.postLogoutRedirectURIs.includes(uri))
      throw invalidRequest('the parameter post_logout_redirect_uri is not registered for the client')
    const state = form.get('state')
    if (state === undefined) return uri
    const target = `${uri}${uri.includes('?') ? '&' : '?'}state=${encodeURIComponent(state)}`
    if (target.length > maxReturnTo) throw invalidRequest('the parameter state is too long')
    return target
  }

  async function readHint(token: string | undefined): Promise<IdTokenHint | undefined> {
    if (token === undefined) return undefined
    const hint = await tools.verifier.readIdTokenHint(token)
    if (hint === undefined)
      throw invalidRequest('the parameter id_token_hint is not an ID token of this issuer')
    return hint
  }

  async function readPresented(req: Request, form: Form): Promise<LogoutCredentials> {
    const hint = await readHint(form.get('id_token_hint'))
    const caller = await readCaller(tools, req)
    const clientId = form.get('client_id') ?? hint?.clientId ?? caller?.claims.clientId
    if (hint !== undefined && clientId !== hint.clientId)
      throw invalidRequest('the parameter client_id is not the client of the id_token_hint')
    return { hint, caller, clientId }
  }

  async function endEvery({ caller }: LogoutCredentials): Promise<void> {
    // Clients pass hints to other programs, so a hint only ends the login that it identifies.
    if (caller === undefined) throw invalidRequest(needsLogin)
    await requireCallerLogin(tools, caller, needsLogin)
    for (const session of await tools.sessions.list(caller.user.name))
      if (session.type === '' || session.type === 'Browser')
        await endLogin(tools.sessions, session, 'all logins ended by the user')
  }

  /** Returns the registered name of a client; '' for an unknown client_id, which is never shown. */
  function toClientName(clientId: string | undefined): string {
    return (clientId === undefined ? undefined : registry.find(clientId))?.client.name ?? ''
  }

  /** @returns whether the user is asked for confirmation */
  async function handle({ req, res }: Exchange, event: TokenEvent): Promise<boolean> {
    const form = readParameters(req)
    const isAll = readFlag(form, 'all')
    const presented = await readPresented(req, form)
    const { caller, hint, clientId } = presented
    const target = findTarget(form, clientId)
    const sid = caller?.claims.sid ?? hint?.sid
    Object.assign(event, { client: clientId, user: caller?.user.name ?? hint?.sub, ...(sid ? { sid } : {}) })
    if (isAll) await endEvery(presented)
    const hinted = { user: hint?.sub ?? '', sid: hint?.sid ?? '', clientName: toClientName(clientId), target }
    if (caller !== undefined) {
      await logOut(options, { req, res }, { ...hinted, user: caller.user.name }, [caller.claims.sid])
      return false
    }
    if (req.method === 'POST' && takesHtml(req) && isWithoutLoginCookie(req)) {
      // A cross-site POST has no session cookie (SameSite); the GET after this redirect has it.
      res.set('cache-control', 'no-store')
      res.redirect(303, await toConfirmationPath(tools.internalJwts, hinted))
      return false
    }
    return logOutOrAsk(options, { req, res }, hinted)
  }

  const wayOut: ErrorPageLink = async ({ req }) => {
    const login = await readBrowserLogin(tools, req)
    if (login === undefined)
      return html`<p>You are not logged in with this browser.</p>
<a class="button second" href="${toLoginPath('/oauth/session')}">Log in</a>`
    return html`<p>You are still logged in as <strong>${login.user.name}</strong>.</p>
<a class="button" href="/oauth/session">Log out of this platform</a>`
  }

  return withAuditedErrorPage(
    options,
    'logout',
    async (req, res, event) => {
      if (await handle({ req, res }, event)) audit.pending(req, event, 'confirmation_required')
      else audit.succeeded(req, event)
    },
    wayOut,
  )
}

const needsLogin = 'all=true requires the access token of the login'
const needsClient =
  'post_logout_redirect_uri requires id_token_hint, client_id or the access token of the login'

type Exchange = { readonly req: Request; readonly res: Response }

function readFlag(form: Form, name: string): boolean {
  const value = form.get(name) ?? 'false'
  if (value !== 'true' && value !== 'false')
    throw invalidRequest(`the parameter ${name} must be true or false`)
  return value === 'true'
}
