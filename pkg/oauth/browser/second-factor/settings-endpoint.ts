import type { Request, RequestHandler, Response } from 'express'
import type { Removal } from '../../../iam/factors/factor-service.ts'
import { hasFactors } from '../../../iam/factors/factors.ts'
import { freshLoginMs } from '../../../iam/sessions/fresh-login.ts'
import type { User } from '../../../iam/users/user.ts'
import { hasOwnFactor } from '../../../jwt/authentication-methods.ts'
import { withAuditedErrorPage, withErrorPage } from '../../pages/error-page.ts'
import { factorsPage } from '../../pages/factors-page.ts'
import { sendPage } from '../../pages/page.ts'
import { invalidRequest, oauthError } from '../../server/error.ts'
import { type Form, readForm, requireParameter } from '../../server/form.ts'
import { issueCsrfToken, requireOwnForm } from '../csrf.ts'
import type { BrowserOptions } from '../dependencies.ts'
import { readIdToken } from '../id-token-cookie.ts'
import { newProgress } from '../login-progress.ts'
import { factorsPath, toLoginPath } from '../return-to.ts'
import { type BrowserLogin, readBrowserLogin } from '../session.ts'
import { factorActions } from './factor-actions.ts'
import { sendFactorPage, sendRecoveryCodes, sendSetUpPage } from './factor-pages.ts'
import { readPasskeyName } from './passkey-parameters.ts'

type Exchange = { readonly req: Request; readonly res: Response }

/** GET /oauth/factors: shows the second factors of the user. */
export function createFactorsPage(options: BrowserOptions): RequestHandler {
  const { productName: product, tools } = options
  return withErrorPage(product, async (req, res) => {
    const login = await requireRecentLogin(options, { req, res })
    if (login === undefined) return
    const body = factorsPage({
      csrf: issueCsrfToken(req, res),
      username: login.user.name,
      factors: await tools.factors.read(login.user),
      hasPasskeys: tools.factors.hasPasskeys,
      isRequired: tools.factors.isRequired(login.user),
    })
    sendPage(res, { product, title: 'Second factors', body })
  })
}

/** POST /oauth/factors: sets up, replaces, renames or removes a factor, or creates new codes. */
export function createFactorsChange(options: BrowserOptions): RequestHandler {
  const { issuer, audit } = options
  return withAuditedErrorPage(options, 'second-factor-enrolment', async (req, res, event) => {
    const form = readForm(req)
    requireOwnForm(req, form, issuer)
    const login = await requireRecentLogin(options, { req, res })
    if (login === undefined) return audit.rejected(req, event, 'login_required')
    event.user = login.user.name
    event.action = form.get('action') ?? ''
    await change(options, { req, res }, { login, form, action: event.action })
    audit.succeeded(req, event)
  })
}

type SettingsChange = { readonly login: BrowserLogin; readonly form: Form; readonly action: string }

async function change(
  options: BrowserOptions,
  { req, res }: Exchange,
  { login, form, action }: SettingsChange,
): Promise<void> {
  const { factors } = options.tools
  const { user } = login
  switch (action) {
    case 'set-up-totp':
      return sendSetUpPage(options, { req, res }, toProgress(req, login), { chosen: 'totp' })
    case 'set-up-passkey':
      return sendSetUpPage(options, { req, res }, toProgress(req, login), { chosen: 'passkey' })
    case 'renew-codes': {
      const codes = await factors.renewRecoveryCodes(user)
      if (codes !== undefined) return sendRecoveryCodes(options, { req, res }, toProgress(req, login), codes)
      break
    }
    case 'rename-passkey':
      await factors.renamePasskey(user, requireParameter(form, 'passkey'), readPasskeyName(form))
      break
    case 'remove-passkey':
      assertRemoved(user, await factors.removePasskey(user, requireParameter(form, 'passkey')))
      break
    case 'remove-totp':
      assertRemoved(user, await factors.removeTotp(user))
      break
    default:
      throw invalidRequest(`invalid action; supported: ${factorActions.join(', ')}`)
  }
  res.redirect(303, factorsPath)
}

/** @throws Status access_denied */
function assertRemoved({ name: user }: User, outcome: Removal): void {
  if (outcome !== 'refused') return
  throw oauthError(403, 'access_denied', 'this user needs a second factor: replace the last one instead', {
    why: 'second_factor_required',
    user,
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
  const done = { user, provider, amr, authTime, idToken: readIdToken(req), returnTo: factorsPath }
  return newProgress(done, { isInSession: true })
}
