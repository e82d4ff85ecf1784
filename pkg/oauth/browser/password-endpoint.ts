import type { Request, RequestHandler, Response } from 'express'
import { Status } from '../../apierrors/status.ts'
import type { User } from '../../iam/users/user.ts'
import { passwordProblem } from '../../iam/users/user-validation.ts'
import { assertUserEnabled } from '../check-user-state.ts'
import { withErrorPage } from '../pages/error-page.ts'
import { sendPage } from '../pages/page.ts'
import { passwordPage } from '../pages/password-page.ts'
import type { TokenEvent } from '../server/audit.ts'
import { oauthError } from '../server/error.ts'
import { readForm } from '../server/form.ts'
import { formTargetsOf } from './csp-form-targets.ts'
import { issueCsrfToken, requireOwnForm } from './csrf.ts'
import type { BrowserOptions } from './dependencies.ts'
import { readReturnTo, toLoginPath } from './return-to.ts'
import { logBrowserIn } from './session.ts'

const ticketSeconds = 600

type Exchange = { readonly req: Request; readonly res: Response }
type Shown = { readonly user: User; readonly returnTo: string; readonly error?: string }

/** After a correct password: the user is logged in after choosing a new one. */
export async function sendPasswordPage(
  { tools, registry, productName }: BrowserOptions,
  { req, res }: Exchange,
  { user, returnTo, error }: Shown,
): Promise<void> {
  const claims = { sub: user.name, uid: user.uid, credential: user.credential }
  const ticket = await tools.internalJwts.sign('password-change', claims, { lifeSeconds: ticketSeconds })
  const csrf = issueCsrfToken(req, res)
  const body = passwordPage({ csrf, returnTo, ticket, username: user.name, error })
  sendPage(res, {
    product: productName,
    title: 'Change your password',
    body,
    code: error === undefined ? 200 : 400,
    formTargets: formTargetsOf(registry, returnTo),
    asksForPassword: true,
  })
}

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
      const user = await readTicket(options, form.get('ticket') ?? '')
      if (user === undefined) {
        audit.refused(req, event, 'ticket_invalid')
        return res.redirect(303, toLoginPath(returnTo))
      }
      event.user = user.name
      const password = form.get('new_password') ?? ''
      const problem = await findProblem(options, user, { password, repeat: form.get('repeat') })
      if (problem !== undefined) {
        audit.refused(req, event, 'new_password_refused')
        await sendPasswordPage(options, { req, res }, { user, returnTo, error: problem })
        return
      }
      const changed = await changePassword(user, await hasher.hash(password)).catch(toOAuthConflict)
      await logBrowserIn(tools, { req, res }, { user: changed, provider: '', returnTo })
      audit.succeeded(req, event)
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
  })
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

async function readTicket({ tools }: BrowserOptions, ticket: string): Promise<User | undefined> {
  const claims = await tools.internalJwts.verify('password-change', ticket)
  const user = claims && tools.users.get(String(claims.sub))
  if (user === undefined || user.uid !== claims?.uid || user.credential !== claims.credential)
    return undefined
  assertUserEnabled(user)
  return user
}

function toOAuthConflict(error: unknown): never {
  if (error instanceof Status && error.code === 409)
    throw oauthError(409, 'invalid_request', 'the user was modified in the meantime; log in again', {
      why: 'user_changed',
    })
  throw error
}
