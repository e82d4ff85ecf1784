import type { RequestHandler } from 'express'
import { isStatus } from '../../apierrors/status.ts'
import { hasFactors } from '../../iam/factors/factors.ts'
import type { User } from '../../iam/users/user.ts'
import { passwordProblem } from '../../iam/users/user-validation.ts'
import { hasOwnFactor } from '../../jwt/authentication-methods.ts'
import { oauthError } from '../server/error.ts'
import { sendChangePasswordPage } from './change-password-page.ts'
import { continueLogin } from './continue-login.ts'
import type { BrowserOptions } from './dependencies.ts'
import type { LoginProgress } from './login-progress.ts'
import { createLoginStep } from './login-step.ts'

/** POST /oauth/password: sets the chosen password, which makes the ticket invalid. */
export function createPasswordChange(options: BrowserOptions): RequestHandler {
  const { audit, hasher, changePassword } = options
  return createLoginStep(options, 'password', async (exchange, { progress, form, event }) => {
    const { user } = progress
    event.user = user.name
    if (!(await isPasswordStep(options, progress))) return continueLogin(options, exchange, progress, event)
    const password = form.get('new_password') ?? ''
    const problem = await findProblem(options, user, { password, repeat: form.get('repeat') })
    if (problem !== undefined) {
      audit.rejected(exchange.req, event, 'new_password_refused')
      return sendChangePasswordPage(options, exchange, progress, problem)
    }
    const changed = await changePassword(user, await hasher.hash(password)).catch(toOAuthConflict)
    return continueLogin(options, exchange, { ...progress, user: changed }, event)
  })
}

/** Reports whether the login has reached the page for a new password. */
async function isPasswordStep({ tools }: BrowserOptions, progress: LoginProgress): Promise<boolean> {
  const { user, provider, amr } = progress
  if (provider !== '' || !user.mustChangePassword) return false
  return hasOwnFactor(amr) || !hasFactors(await tools.factors.read(user))
}

async function findProblem(
  { hasher, hashOf }: BrowserOptions,
  user: User,
  { password, repeat }: { password: string; repeat: string | undefined },
): Promise<string | undefined> {
  const problem = passwordProblem(password)
  if (problem !== undefined) return `The password ${problem}.`
  if (password !== repeat) return 'The passwords do not match.'
  return (await hasher.verify(password, await hashOf(user)))
    ? 'The new password must differ from the old one.'
    : undefined
}

function toOAuthConflict(error: unknown): never {
  if (isStatus(error, 409))
    throw oauthError(409, 'invalid_request', 'the user was modified in the meantime; log in again', {
      why: 'user_changed',
    })
  throw error
}
