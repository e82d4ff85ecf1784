import type { Request, RequestHandler, Response } from 'express'
import type { PasswordVerdict } from '../../../iam/passwords/password-check.ts'
import { endLoginsWithoutFactor } from '../../../iam/sessions/revoke-session.ts'
import { hasOwnFactor, withFactor } from '../../../jwt/authentication-methods.ts'
import { withErrorPage } from '../../pages/error-page.ts'
import type { TokenEvent } from '../../server/audit.ts'
import { sourceOf } from '../../server/client-info.ts'
import { type Form, readForm } from '../../server/form.ts'
import { goneSignal } from '../../tokens/token-endpoint.ts'
import { continueLogin } from '../continue-login.ts'
import { csrfField, requireOwnForm } from '../csrf.ts'
import type { BrowserOptions } from '../dependencies.ts'
import { explainLock } from '../login-failure.ts'
import { type LoginProgress, readProgressTicket } from '../login-progress.ts'
import { readReturnTo, toLoginPath } from '../return-to.ts'
import { readBrowserLogin } from '../session.ts'
import { sendFactorPage, sendRecoveryCodes, sendTotpPage } from './forms.ts'

type Exchange = { readonly req: Request; readonly res: Response }
type Take = (exchange: Exchange, step: Step) => Promise<void>
type Step = { readonly progress: LoginProgress; readonly form: Form; readonly event: TokenEvent }

/** POST /oauth/factor: a code of the authenticator app or a recovery code, after the password. */
export function createFactorCheck(options: BrowserOptions): RequestHandler {
  const { tools, audit } = options
  return createStep(options, 'second-factor', async ({ req, res }, { progress, form, event }) => {
    // The form of the page with recovery codes: the login has set up and proven its factor.
    if (hasOwnFactor(progress.amr)) return continueLogin(options, { req, res }, progress, event)
    const { user } = progress
    const attempt = { user, source: sourceOf(req), signal: goneSignal(res) }
    const recoveryCode = form.get('recovery_code')
    const verdict = await tools.factors.checkCode(
      attempt,
      recoveryCode === undefined
        ? { kind: 'totp', code: form.get('code') ?? '' }
        : { kind: 'recovery', code: recoveryCode },
    )
    if (verdict.outcome === 'right') {
      const proven = { ...progress, amr: withFactor(progress.amr, ['otp']) }
      return continueLogin(options, { req, res }, proven, event)
    }
    event.user = user.name
    audit.refused(req, event, verdict.outcome === 'locked' ? 'locked' : 'wrong_code')
    await sendFactorPage(options, { req, res }, progress, toProblem(res, verdict))
  })
}

/**
 * POST /oauth/factor/totp: the first code of a new authenticator app, which proves that the app has
 * the secret.
 */
export function createTotpEnrolment(options: BrowserOptions): RequestHandler {
  const { tools, audit } = options
  return createStep(options, 'second-factor-enrolment', async (exchange, { progress, form, event }) => {
    const { req } = exchange
    const { user, totpSecret: secret } = progress
    event.user = user.name
    const mayReplace = hasOwnFactor(progress.amr)
    const { outcome, ...stored } =
      secret === undefined
        ? ({ outcome: 'refused' } as const)
        : await tools.factors.addTotp(user, { secret, code: form.get('code') ?? '', mayReplace })
    if (outcome === 'refused') {
      // The user has set up a factor in another browser in the meantime: the next page asks for its
      // code.
      audit.refused(req, event, 'second_factor_required')
      return continueLogin(options, exchange, progress, { endpoint: 'second-factor' })
    }
    if (outcome === 'wrong') {
      audit.refused(req, event, 'wrong_code')
      const error = 'Wrong code. Check the clock of the device, and enter the code that it shows now.'
      return sendTotpPage(options, exchange, progress, error)
    }
    const current = await readBrowserLogin(tools, req)
    await endLoginsWithoutFactor(tools.sessions, user.name, current?.sid)
    audit.succeeded(req, event)
    const proven = { ...progress, amr: withFactor(progress.amr, ['otp']) }
    const codes = 'recoveryCodes' in stored ? stored.recoveryCodes : []
    if (codes.length > 0) return sendRecoveryCodes(options, exchange, proven, codes)
    return continueLogin(options, exchange, proven, { endpoint: 'second-factor' })
  })
}

/** Handles the form of one step of a login. */
function createStep(options: BrowserOptions, endpoint: string, take: Take): RequestHandler {
  const { tools, issuer, audit, productName } = options
  return withErrorPage(productName, async (req, res) => {
    const event: TokenEvent = { endpoint }
    try {
      const form = readForm(req)
      requireOwnForm(req, form, issuer)
      const returnTo = readReturnTo(form.get('return_to'))
      const given = { ticket: form.get('ticket') ?? '', csrf: form.get(csrfField) ?? '', returnTo }
      const progress = await readProgressTicket(tools, given)
      if (progress === undefined) {
        audit.refused(req, event, 'ticket_invalid')
        return res.redirect(303, toLoginPath(returnTo))
      }
      await take({ req, res }, { progress, form, event })
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
  })
}

function toProblem(res: Response, verdict: PasswordVerdict) {
  if (verdict.outcome !== 'locked') return { code: 400, error: 'The code is wrong, or was used before.' }
  const { retryAfterSeconds } = verdict
  res.set('retry-after', String(retryAfterSeconds))
  return { code: 429, error: explainLock('codes', retryAfterSeconds) }
}
