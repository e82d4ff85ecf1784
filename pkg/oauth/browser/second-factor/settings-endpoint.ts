import type { Request, RequestHandler, Response } from 'express'
import { hasFactors } from '../../../iam/factors/factors.ts'
import { freshLoginMs } from '../../../iam/sessions/fresh-login.ts'
import { hasOwnFactor } from '../../../jwt/authentication-methods.ts'
import { withErrorPage } from '../../pages/error-page.ts'
import { factorsPage } from '../../pages/factors-page.ts'
import { sendPage } from '../../pages/page.ts'
import type { TokenEvent } from '../../server/audit.ts'
import { oauthError } from '../../server/error.ts'
import { readForm } from '../../server/form.ts'
import { issueCsrfToken, requireOwnForm } from '../csrf.ts'
import type { BrowserOptions } from '../dependencies.ts'
import { readIdToken } from '../id-token-cookie.ts'
import { newProgress } from '../login-progress.ts'
import { factorsPath, toLoginPath } from '../return-to.ts'
import { type BrowserLogin, readBrowserLogin } from '../session.ts'
import { sendFactorPage, sendRecoveryCodes, sendTotpPage } from './forms.ts'

type Exchange = { readonly req: Request; readonly res: Response }

/** GET /oauth/factors: shows the second factors of the user. */
export function createFactorsPage(options: BrowserOptions): RequestHandler {
  const { productName: product, tools } = options
  return withErrorPage(product, async (req, res) => {
    const login = await requireRecentLogin(options, { req, res })
    if (login === undefined) return
    const { totp, recoveryCodes } = await tools.factors.read(login.user)
    const body = factorsPage({
      csrf: issueCsrfToken(req, res),
      username: login.user.name,
      hasTotp: totp !== undefined,
      isRequired: tools.factors.isRequired(login.user),
      recoveryCodes: recoveryCodes.length,
    })
    sendPage(res, { product, title: 'Second factors', body })
  })
}

/** POST /oauth/factors: sets up, replaces or removes a factor, or creates new recovery codes. */
export function createFactorsChange(options: BrowserOptions): RequestHandler {
  const { productName, issuer, audit, tools } = options

  async function change(exchange: Exchange, login: BrowserLogin, action: string): Promise<void> {
    const { user } = login
    if (action === 'set-up-totp') return sendTotpPage(options, exchange, toProgress(exchange.req, login))
    if (action === 'renew-codes') {
      const codes = await tools.factors.renewRecoveryCodes(user)
      if (codes !== undefined)
        return sendRecoveryCodes(options, exchange, toProgress(exchange.req, login), codes)
    } else if (action === 'remove-totp') {
      if (tools.factors.isRequired(user))
        throw oauthError(403, 'access_denied', 'this user needs a second factor: replace it instead', {
          why: 'second_factor_required',
          user: user.name,
        })
      await tools.factors.removeTotp(user)
    } else
      throw oauthError(
        400,
        'invalid_request',
        'invalid action; supported: set-up-totp, remove-totp, renew-codes',
      )
    exchange.res.redirect(303, factorsPath)
  }

  return withErrorPage(productName, async (req, res) => {
    const event: TokenEvent = { endpoint: 'second-factor-enrolment' }
    try {
      const form = readForm(req)
      requireOwnForm(req, form, issuer)
      const login = await requireRecentLogin(options, { req, res })
      if (login === undefined) return audit.refused(req, event, 'login_required')
      event.user = login.user.name
      event.action = form.get('action') ?? ''
      await change({ req, res }, login, event.action)
      audit.succeeded(req, event)
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
  })
}

/**
 * Returns a login of the last ten minutes, which must have used the second factor if the user has
 * one. Otherwise someone at an unattended browser, or with a stolen password, could replace the
 * factor.
 *
 * @returns undefined after another page was sent
 */
async function requireRecentLogin(
  options: BrowserOptions,
  { req, res }: Exchange,
): Promise<BrowserLogin | undefined> {
  const { tools } = options
  const login = await readBrowserLogin(tools, req)
  if (login === undefined || Date.now() - login.authTime * 1000 > freshLoginMs) {
    res.redirect(req.method === 'POST' ? 303 : 302, toLoginPath(factorsPath))
    return undefined
  }
  if (hasOwnFactor(login.amr) || !hasFactors(await tools.factors.read(login.user))) return login
  await sendFactorPage(options, { req, res }, toProgress(req, login))
  return undefined
}

/** Returns the login of the browser as a login whose next step is a second factor. */
function toProgress(req: Request, { user, provider, amr, authTime }: BrowserLogin) {
  return newProgress({ user, provider, amr, authTime, idToken: readIdToken(req), returnTo: factorsPath })
}
