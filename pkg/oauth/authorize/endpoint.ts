import type { Request, RequestHandler, Response } from 'express'
import { hasFactors } from '../../iam/factors/factors.ts'
import { freshLoginMs } from '../../iam/sessions/fresh-login.ts'
import { missingContextClass } from '../../jwt/authentication-methods.ts'
import type { IdTokenHint } from '../../jwt/verify.ts'
import { continueLogin } from '../browser/continue-login.ts'
import type { BrowserOptions } from '../browser/dependencies.ts'
import { readIdToken } from '../browser/id-token-cookie.ts'
import { newProgress } from '../browser/login-progress.ts'
import { proofParameter, readLoginProof } from '../browser/login-proof.ts'
import { maxReturnTo, toLoginPath } from '../browser/return-to.ts'
import { type BrowserLogin, readBrowserLogin } from '../browser/session.ts'
import { withAuditedErrorPage } from '../pages/error-page.ts'
import type { TokenEvent } from '../server/audit.ts'
import { invalidRequest, oauthError } from '../server/error.ts'
import { type Form, type ReadParameters, readEachParameter } from '../server/form.ts'
import { sendAuthorizationResponse, toResponse } from './authorization-response.ts'
import { needsConsent } from './consent.ts'
import { sendConsentPage } from './consent-endpoint.ts'
import { type AuthorizeRequest, findTarget, readAuthorizeRequest, type Target } from './request.ts'
import { sendCode } from './send-code.ts'

type Exchange = { readonly req: Request; readonly res: Response }
type Authorization = {
  readonly target: Target
  readonly request: AuthorizeRequest
  readonly params: Form
  /** Proof that the user has completed the login page for this request. */
  readonly proof: string | undefined
}

/**
 * GET and POST /oauth/authorize (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2): a
 * client sends the browser here; its user logs in, gives consent if needed, and returns to the
 * client with a code.
 */
export function createAuthorize(options: BrowserOptions): RequestHandler {
  return withAuditedErrorPage(options, 'authorize', async (req, res, event) => {
    const { form, problems } = readEachParameter(req)
    for (const name of ['client_id', 'redirect_uri']) {
      const problem = problems.get(name)
      if (problem !== undefined) throw problem
    }
    const params = new Map(form)
    const proof = params.get(proofParameter)
    params.delete(proofParameter)
    const target = findTarget(options.registry, params)
    event.client = target.client.name
    await respond(options, { req, res }, { target, params, proof }, { event, problems })
  })
}

/**
 * Returns the path and query of the authorization request, where the browser continues after the
 * login.
 *
 * @throws Status invalid_request if the request is too long
 */
function toPath(params: Form): string {
  const path = `/oauth/authorize?${new URLSearchParams([...params])}`
  if (path.length <= maxReturnTo) return path
  const what = `the authorization request is longer than ${maxReturnTo} characters`
  throw invalidRequest(what, { why: 'request_too_long' })
}

/**
 * Responds to a request whose client and redirect URI are valid: errors are sent to the client from
 * here on (RFC 6749 section 4.1.2.1).
 */
async function respond(
  options: BrowserOptions,
  exchange: Exchange,
  authorization: Omit<Authorization, 'request'>,
  { event, problems }: { readonly event: TokenEvent; readonly problems: ReadParameters['problems'] },
): Promise<void> {
  const { target, params } = authorization
  try {
    for (const problem of problems.values()) throw problem
    const path = toPath(params)
    // A cross-site POST has no session cookie (SameSite); the GET after this redirect has it.
    if (exchange.req.method === 'POST') return exchange.res.redirect(303, path)
    const request = readAuthorizeRequest(params, target.client)
    await decide(options, exchange, { ...authorization, request }, event)
  } catch (error) {
    const reported = toResponse(error)
    if (reported === undefined) throw error
    options.audit.failed(exchange.req, event, error)
    sendAuthorizationResponse(exchange, target, { ...reported, iss: options.issuer })
  }
}

async function decide(
  options: BrowserOptions,
  exchange: Exchange,
  authorization: Authorization,
  event: TokenEvent,
): Promise<void> {
  const { target, request } = authorization
  const isSilent = request.prompts.has('none')
  const hint = await readHint(options, request)
  const login = await findLogin(options, exchange.req, authorization, hint)
  if (login === undefined) {
    if (isSilent) throw oauthError(400, 'login_required', '')
    exchange.res.set('cache-control', 'no-store').redirect(302, toLogin(authorization, hint))
    return
  }
  const user = login.user.name
  event.user = user
  if (hint !== undefined && hint.sub !== user)
    throw oauthError(400, 'login_required', 'the logged-in user is not that of the id_token_hint')
  if (missingContextClass(request.acrValues, login.amr) !== undefined) {
    if (isSilent) throw oauthError(400, 'interaction_required', 'acr_values requires a second factor')
    const isOld = Date.now() - login.authTime * 1000 > freshLoginMs
    // A user without a second factor sets one up next, which requires a recent login.
    if (isOld && !hasFactors(await options.tools.factors.read(login.user))) {
      exchange.res.set('cache-control', 'no-store').redirect(302, toLogin(authorization, hint))
      return
    }
    const { provider, amr, authTime } = login
    const idToken = readIdToken(exchange.req)
    const progress = {
      user: login.user,
      provider,
      amr,
      authTime,
      idToken,
      returnTo: toPath(authorization.params),
    }
    return continueLogin(options, exchange, newProgress(progress, { isInSession: true }), event)
  }
  if (await needsConsent(options.tools, target.client, { ...request, user })) {
    if (isSilent) throw oauthError(400, 'consent_required', '')
    await sendConsentPage(options, exchange, { ...authorization, login })
    return
  }
  await sendCode(options, exchange, { ...authorization, login })
  options.audit.succeeded(exchange.req, event)
}

/**
 * Returns the user that the client expects. A hint that cannot be verified is ignored, except with
 * prompt=none, where it must identify the user (OpenID Connect Core section 3.1.2.1).
 *
 * @throws Status login_required
 */
async function readHint(
  { tools }: BrowserOptions,
  { idTokenHint, prompts }: AuthorizeRequest,
): Promise<IdTokenHint | undefined> {
  if (idTokenHint === undefined) return undefined
  const hint = await tools.verifier.readIdTokenHint(idTokenHint)
  if (hint === undefined && prompts.has('none'))
    throw oauthError(400, 'login_required', 'the id_token_hint cannot be verified')
  return hint
}

/**
 * Returns the login of the browser; undefined if the user must log in first. A login for this
 * request satisfies prompt and max_age; otherwise the browser would be sent to the login page
 * forever.
 */
async function findLogin(
  { tools }: BrowserOptions,
  req: Request,
  { request, params, proof }: Authorization,
  hint: IdTokenHint | undefined,
): Promise<BrowserLogin | undefined> {
  const login = await readBrowserLogin(tools, req)
  if (login === undefined) return undefined
  const proven = await readLoginProof(tools.internalJwts, proof, { sid: login.sid, params })
  if (proven === 'login') return login
  const { prompts, maxAgeSeconds = Number.POSITIVE_INFINITY } = request
  const isTooOld = Date.now() / 1000 - login.authTime > maxAgeSeconds
  const isOther = hint !== undefined && hint.sub !== login.user.name
  const isToChoose = prompts.has('select_account') && proven !== 'choice'
  return prompts.has('login') || isTooOld || isOther || isToChoose ? undefined : login
}

/** Returns a link to the login page that continues with this authorization request. */
function toLogin({ params }: Authorization, hint: IdTokenHint | undefined): string {
  const username = params.get('login_hint') ?? hint?.sub
  return toLoginPath(toPath(params), username === undefined ? {} : { login_hint: username.slice(0, 254) })
}
