import type { Request, Response } from 'express'
import { Status } from '../../apierrors/status.ts'
import { hasFactors } from '../../iam/factors/factors.ts'
import { hasOwnFactor, missingContextClass } from '../../jwt/authentication-methods.ts'
import { lacksSecondFactor } from '../second-factor.ts'
import type { TokenEvent } from '../server/audit.ts'
import { invalidRequest } from '../server/error.ts'
import { sendChangePasswordPage } from './change-password-page.ts'
import type { BrowserOptions } from './dependencies.ts'
import type { LoginProgress } from './login-progress.ts'
import { readAuthorizationRequest } from './login-proof.ts'
import { sendFactorPage, sendSetUpPage } from './second-factor/factor-pages.ts'
import { logBrowserIn } from './session.ts'

type PendingStep = 'second_factor_required' | 'password_to_change' | 'second_factor_to_set_up'

/**
 * Sends the page of the next step of a login, or logs the browser in if no step is left. No other
 * function starts browser sessions. A second factor is required from users who have one, by the
 * policy, and by the `acr_values` of the client. A user who needs a factor but has none sets it up
 * here, after the password.
 */
export async function continueLogin(
  options: BrowserOptions,
  { req, res }: { readonly req: Request; readonly res: Response },
  progress: LoginProgress,
  event: TokenEvent,
): Promise<void> {
  const { user, provider } = progress
  event.user = user.name
  if (provider !== '') event.provider = provider
  const step = await sendNextStep(options, { req, res }, progress)
  if (step === undefined) options.audit.succeeded(req, event)
  else options.audit.pending(req, event, step)
}

async function sendNextStep(
  options: BrowserOptions,
  exchange: { readonly req: Request; readonly res: Response },
  progress: LoginProgress,
): Promise<PendingStep | undefined> {
  const { factors } = options.tools
  const { user, provider, amr, returnTo } = progress
  const hasOne = hasFactors(await factors.read(user))
  const acrValues = readAuthorizationRequest(returnTo)?.get('acr_values')
  const isStepUpRequired = missingContextClass(acrValues, amr) !== undefined
  // A provider may have verified a second factor, but that does not replace the user's own.
  if (hasOne && !hasOwnFactor(amr)) {
    await sendFactorPage(options, exchange, progress)
    return 'second_factor_required'
  }
  if (provider === '' && user.mustChangePassword) {
    await sendChangePasswordPage(options, exchange, progress)
    return 'password_to_change'
  }
  // An administrator, or the user in another browser, has removed the factor that this login used.
  if (!hasOne && hasOwnFactor(amr))
    throw invalidRequest('the second factor was removed in the meantime: log in again', {
      why: 'second_factor_removed',
    })
  if (isStepUpRequired || lacksSecondFactor(factors, user, amr)) {
    await sendSetUpPage(options, exchange, progress)
    return 'second_factor_to_set_up'
  }
  await logBrowserIn(options.tools, exchange, progress).catch(toContinuedBefore)
  return undefined
}

/** A form that is sent twice must not log in again: the browser may have another user. */
function toContinuedBefore(error: unknown): never {
  if (!(error instanceof Status && error.reason === 'AlreadyExists')) throw error
  throw invalidRequest('this login was completed before: log in again', {
    why: 'login_completed',
  })
}
