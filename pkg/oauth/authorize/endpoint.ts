import type { Request, RequestHandler, Response } from 'express'
import type { TokenEvent } from '../audit.ts'
import type { BrowserOptions } from '../browser/options.ts'
import { maxReturnTo, toLoginPath } from '../browser/return-to.ts'
import { type BrowserLogin, readBrowserLogin } from '../browser/session.ts'
import { oauthError } from '../error.ts'
import { type Form, readParameters } from '../form.ts'
import { withErrorPage } from '../pages/wrong-page.ts'
import { sendBack, toAnswer } from './answer.ts'
import { needsConsent } from './consent.ts'
import { sendConsentPage } from './consent-endpoint.ts'
import { type AuthorizeRequest, findTarget, readAuthorizeRequest, type Target } from './request.ts'
import { sendCode } from './send-code.ts'

type Exchange = { readonly req: Request; readonly res: Response }
type Asked = { readonly target: Target; readonly request: AuthorizeRequest; readonly params: Form }

/**
 * GET and POST /oauth/authorize (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2): the browser comes from a client,
 * its user logs in, agrees where he is asked to, and goes back with a code.
 */
export function createAuthorize(options: BrowserOptions): RequestHandler {
  const { registry, audit, productName } = options
  return withErrorPage(productName, async (req, res) => {
    const event: TokenEvent = { endpoint: 'authorize' }
    try {
      const params = readParameters(req)
      const target = findTarget(registry, params)
      event.client = target.client.name
      const path = toPath(params)
      // A form from another site comes without the cookie (SameSite); the same by GET brings it along.
      if (req.method === 'POST') res.redirect(303, path)
      else await answer(options, { req, res }, { target, params }, event)
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
  })
}

/**
 * The request as it is kept while its user logs in.
 *
 * @throws Status invalid_request for one that would be forgotten on the way; it is not sent back, since its state may be
 * what is too long
 */
function toPath(params: Form): string {
  const path = `/oauth/authorize?${new URLSearchParams([...params])}`
  if (path.length <= maxReturnTo) return path
  const what = `the authorization request is longer than ${maxReturnTo} characters`
  throw oauthError(400, 'invalid_request', what, { why: 'request_too_long' })
}

/** From here on errors are the client's, and go back to it. */
async function answer(
  options: BrowserOptions,
  exchange: Exchange,
  { target, params }: Pick<Asked, 'target' | 'params'>,
  event: TokenEvent,
): Promise<void> {
  try {
    const request = readAuthorizeRequest(params, target.client)
    await decide(options, exchange, { target, request, params }, event)
  } catch (error) {
    const told = toAnswer(error)
    if (told === undefined) throw error
    options.audit.failed(exchange.req, event, error)
    sendBack(exchange, target, { ...told, iss: options.issuer })
  }
}

async function decide(
  options: BrowserOptions,
  exchange: Exchange,
  asked: Asked,
  event: TokenEvent,
): Promise<void> {
  const { target, request, params } = asked
  const { prompts } = request
  const isSilent = prompts.has('none')
  const login = await findLogin(options, exchange.req, request)
  if (login === undefined || prompts.has('login') || prompts.has('select_account')) {
    if (isSilent) throw oauthError(400, 'login_required', '')
    exchange.res.set('cache-control', 'no-store').redirect(302, toLogin(params))
    return
  }
  event.user = login.user.name
  const user = login.user.name
  if (await needsConsent(options.tools, target.client, { ...request, user })) {
    if (isSilent) throw oauthError(400, 'consent_required', '')
    sendConsentPage(options, exchange, { ...asked, login })
    return
  }
  await sendCode(options, exchange, { ...asked, login })
  options.audit.succeeded(exchange.req, event)
}

/** The browser's login, if it is recent enough and of the user whom the client means. */
async function findLogin(
  { tools }: BrowserOptions,
  req: Request,
  { maxAgeSeconds, idTokenHint }: AuthorizeRequest,
): Promise<BrowserLogin | undefined> {
  const login = await readBrowserLogin(tools, req)
  if (login === undefined) return undefined
  if (maxAgeSeconds !== undefined && Date.now() / 1000 - login.authTime > maxAgeSeconds) return undefined
  if (idTokenHint === undefined) return login
  const hint = await tools.verifier.readIdTokenHint(idTokenHint)
  return hint?.sub === login.user.name ? login : undefined
}

/** The way back from the login page asks for no further login: the one there is new. */
function toLogin(params: Form): string {
  const rest = new Map(params)
  rest.delete('max_age')
  const prompts = (rest.get('prompt') ?? '').split(' ').filter(prompt => prompt === 'consent')
  rest.delete('prompt')
  if (prompts.length > 0) rest.set('prompt', prompts.join(' '))
  const hint = params.get('login_hint')
  const returnTo = `/oauth/authorize?${new URLSearchParams([...rest])}`
  return toLoginPath(returnTo, hint === undefined ? {} : { login_hint: hint.slice(0, 254) })
}
