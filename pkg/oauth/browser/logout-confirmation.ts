import type { Request, RequestHandler, Response } from 'express'
import { readCookie } from '../../httpserver/cookie.ts'
import { endLogin } from '../../iam/sessions/revoke-session.ts'
import type { InternalJwts } from '../../jwt/internal-jwt.ts'
import { toFormTarget } from '../authorize/csp-form-action.ts'
import { takesHtml, withAuditedErrorPage } from '../pages/error-page.ts'
import { logoutPage } from '../pages/logout-page.ts'
import { sendPage } from '../pages/page.ts'
import type { TokenEvent } from '../server/audit.ts'
import { invalidRequest } from '../server/error.ts'
import { readForm, readParameters } from '../server/form.ts'
import { issueCsrfToken, requireOwnForm } from './csrf.ts'
import type { BrowserOptions } from './dependencies.ts'
import { type BrowserLogin, endBrowserLogin, loginCookie, readBrowserLogin } from './session.ts'
import { findLogoutUrl, toUpstreamLogout } from './upstream-logout.ts'

export const confirmationPath = '/oauth/logout/confirm'

const lifeSeconds = 600

/** A verified logout request of a client. */
export type LogoutRequest = {
  /** The user and login of the id_token_hint; '' without a hint. */
  readonly user: string
  readonly sid: string
  /** The name of the client; '' for an unknown client. */
  readonly clientName: string
  /** The redirect URI with the state of the client; '' for the logout page of Kapis. */
  readonly target: string
}

type Exchange = { readonly req: Request; readonly res: Response }

/** Returns a link to the confirmation page of a logout, valid for ten minutes. */
export async function toConfirmationPath(
  internalJwts: InternalJwts,
  request: LogoutRequest,
): Promise<string> {
  const ticket = await issueTicket(internalJwts, request)
  return `${confirmationPath}?${new URLSearchParams({ ticket })}`
}

/**
 * Ends the browser session and the login of the hint. Asks the user for confirmation unless the
 * hint is for the same user (OpenID Connect RP-Initiated Logout 1.0 section 2).
 *
 * @returns whether the user is asked
 */
export async function logOutOrAsk(
  options: BrowserOptions,
  exchange: Exchange,
  request: LogoutRequest,
): Promise<boolean> {
  const login = await readBrowserLogin(options.tools, exchange.req)
  const isToAsk = login !== undefined && login.user.name !== request.user
  if (isToAsk) await sendConfirmationPage(options, exchange, { login, request })
  else await logOut(options, exchange, request)
  return isToAsk
}

/** GET /oauth/logout/confirm: for cross-site POST requests, without session cookie. */
export function createLogoutConfirmation(options: BrowserOptions): RequestHandler {
  const { tools, audit } = options
  return withAuditedErrorPage(options, 'logout', async (req, res, event) => {
    const request = await requireTicket(tools.internalJwts, readParameters(req).get('ticket'))
    noteRequest(event, request)
    if (await logOutOrAsk(options, { req, res }, request)) audit.pending(req, event, 'confirmation_required')
    else audit.succeeded(req, event)
  })
}

/** POST /oauth/logout/confirm: the user's decision. */
export function createLogoutDecision(options: BrowserOptions): RequestHandler {
  const { tools, issuer, audit } = options
  return withAuditedErrorPage(options, 'logout', async (req, res, event) => {
    const form = readForm(req)
    requireOwnForm(req, form, issuer)
    const request = await requireTicket(tools.internalJwts, form.get('ticket'))
    noteRequest(event, request)
    const login = await readBrowserLogin(tools, req)
    // Another user may have logged in since the page was shown, and must be asked first.
    if (login !== undefined && login.user.name !== form.get('username')) {
      audit.pending(req, event, 'confirmation_required')
      return sendConfirmationPage(options, { req, res }, { login, request })
    }
    event.user = login?.user.name ?? event.user
    if (form.get('decision') !== 'logout') {
      audit.rejected(req, event, 'logout_refused')
      return sendOn(res, request.target === '' ? '/oauth/session' : request.target)
    }
    const user = login?.user.name ?? request.user
    await logOut(options, { req, res }, { ...request, user })
    audit.succeeded(req, event)
  })
}

/**
 * Ends the given logins and the browser session of the same user, and redirects the browser.
 * Clients other than browsers get JSON if the request has no redirect URI.
 */
export async function logOut(
  { tools, issuer }: Pick<BrowserOptions, 'tools' | 'issuer'>,
  { req, res }: Exchange,
  { user, sid, target }: LogoutRequest,
  more: readonly string[] = [],
): Promise<void> {
  for (const id of new Set([...more, sid])) {
    const session = id === '' ? undefined : await tools.sessions.read(id)
    if (session !== undefined) await endLogin(tools.sessions, session, 'logout')
  }
  const browser = await readBrowserLogin(tools, req)
  const isOwn = browser?.user.name === user
  if (isOwn) await endBrowserLogin(tools, { req, res })
  if (target === '' && !takesHtml(req)) {
    res.set({ 'cache-control': 'no-store', pragma: 'no-cache' }).json({ message: 'success' })
    return
  }
  const own = target === '' ? undefined : target
  const upstream = isOwn ? await toUpstreamLogout({ tools, issuer, req }, browser, own) : undefined
  sendOn(res, upstream ?? own ?? '/oauth/logged-out')
}

/** Reports whether the request has no session cookie because it is cross-site. */
export function isWithoutLoginCookie(req: Request): boolean {
  return readCookie(req, loginCookie) === undefined
}

/** Redirects to a URI as text: a URL parser would normalize the registered URI. */
function sendOn(res: Response, location: string): void {
  res.set({ 'cache-control': 'no-store', pragma: 'no-cache', location })
  res.status(res.req.method === 'GET' ? 302 : 303).end()
}

async function sendConfirmationPage(
  { tools, productName: product }: BrowserOptions,
  { req, res }: Exchange,
  { login, request }: { readonly login: BrowserLogin; readonly request: LogoutRequest },
): Promise<void> {
  const body = logoutPage({
    csrf: issueCsrfToken(req, res),
    username: login.user.name,
    clientName: request.clientName,
    action: confirmationPath,
    ticket: await issueTicket(tools.internalJwts, request),
  })
  // The form redirects to the client, possibly through the identity provider.
  const upstream = findLogoutUrl(tools, login.provider)?.({ returnUri: '', state: '', idToken: '' })
  const formTargets = [upstream?.href ?? '', request.target].filter(Boolean).map(toFormTarget)
  sendPage(res, { product, title: 'Log out?', body, formTargets })
}

function issueTicket(
  internalJwts: InternalJwts,
  { user, sid, clientName, target }: LogoutRequest,
): Promise<string> {
  return internalJwts.sign(
    'logout-request',
    { sub: user, sid, client_id: clientName, target },
    { lifeSeconds },
  )
}

/** Verifies the ticket of a confirmation. @throws Status invalid_request */
async function requireTicket(internalJwts: InternalJwts, ticket: string | undefined): Promise<LogoutRequest> {
  const claims = ticket === undefined ? undefined : await internalJwts.verify('logout-request', ticket)
  if (claims === undefined)
    throw invalidRequest('the logout request has expired after ten minutes', {
      why: 'ticket_invalid',
    })
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : '')
  return { user: text('sub'), sid: text('sid'), clientName: text('client_id'), target: text('target') }
}

function noteRequest(event: TokenEvent, { user, sid, clientName }: LogoutRequest): void {
  if (clientName !== '') event.client = clientName
  if (user !== '') Object.assign(event, { user, sid })
}
