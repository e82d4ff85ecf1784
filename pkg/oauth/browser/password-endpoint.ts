import type { RequestHandler } from 'express'
import { Status } from '../../apierrors/status.ts'
import { hasFactors } from '../../iam/factors/factors.ts'
import type { User } from '../../iam/users/user.ts'
import { passwordProblem } from '../../iam/users/user-validation.ts'
import { hasOwnFactor } from '../../jwt/authentication-methods.ts'
import { withErrorPage } from '../pages/error-page.ts'
import type { TokenEvent } from '../server/audit.ts'
import { oauthError } from '../server/error.ts'
import { readForm } from '../server/form.ts'
import { continueLogin } from './continue-login.ts'
import { csrfField, requireOwnForm } from './csrf.ts'
import type { BrowserOptions } from './dependencies.ts'
import { type LoginProgress, readProgressTicket } from './login-progress.ts'
import { sendPasswordPage } from './password-form.ts'
import { readReturnTo, toLoginPath } from './return-to.ts'

/**
 * POST /oauth/password: sets the password that the user has chosen. The ticket becomes invalid when
 * the password changes.
 */
export function createPasswordChange(options: BrowserOptions): RequestHandler {
  const { tools, issuer, audit, productName, hasher, changePassword } = options
  return withErrorPage(productName, async (req, res) => {
    const event: TokenEvent = { endpoint: 'password' }
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
      const { user } = progress
      event.user = user.name
      if (!(await isPasswordStep(options, progress)))
        return continueLogin(options, { req, res }, progress, event)
      const password = form.get('new_password') ?? ''
      const problem = await findProblem(options, user, { password, repeat: form.get('repeat') })
      if (problem !== undefined) {
        audit.refused(req, event, 'new_password_refused')
        await sendPasswordPage(options, { req, res }, progress, problem)
        return
      }
      const changed = await changePassword(user, await hasher.hash(password)).catch(toOAuthConflict)
      await continueLogin(options, { req, res }, { ...progress, user: changed }, event)
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
  })
}

/**
 * Reports whether the login has reached the page for a new password: the ticket of another step
 * must not set a password.
 */
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
  if (error instanceof Status && error.code === 409)
    throw oauthError(409, 'invalid_request', 'the user was modified in the meantime; log in again', {
      why: 'user_changed',
    })
  throw error
}
