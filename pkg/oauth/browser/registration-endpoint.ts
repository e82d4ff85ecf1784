import type { Request, RequestHandler, Response } from 'express'
import { Status } from '../../apierrors/status.ts'
import type { PendingRegistration } from '../../iam/identityprovider/linking/account-linking.ts'
import { toUserName } from '../../iam/identityprovider/linking/user-name.ts'
import { createLockout, secondsUntil } from '../../iam/lockout/lockout.ts'
import type { User } from '../../iam/users/user.ts'
import { assertPasswordIsOwn, assertUserEnabled } from '../check-user-state.ts'
import { withAuditedErrorPage } from '../pages/error-page.ts'
import { sendPage } from '../pages/page.ts'
import { linkPage, registrationPage } from '../pages/registration-page.ts'
import { toOAuthError } from '../provider-login.ts'
import { requireValidPassword } from '../require-valid-password.ts'
import { assertNoSecondFactor } from '../second-factor.ts'
import { clientInfoOf } from '../server/client-info.ts'
import { oauthError } from '../server/error.ts'
import { type Form, readForm } from '../server/form.ts'
import { disconnectSignal } from '../tokens/token-endpoint.ts'
import { continueLogin } from './continue-login.ts'
import { formTargetsOf } from './csp-form-targets.ts'
import { issueCsrfToken, requireOwnForm } from './csrf.ts'
import type { BrowserOptions } from './dependencies.ts'
import { explainWrongLogin, isWrongLogin } from './login-failure.ts'
import { newProgress } from './login-progress.ts'
import { issueRegistrationTicket, readRegistrationTicket } from './registration-ticket.ts'
import { readReturnTo, toLoginPath } from './return-to.ts'

const perAccount = { maxTries: 20, durationSeconds: 600 }

type Exchange = { readonly req: Request; readonly res: Response }
type RegistrationPageState = {
  readonly registration: PendingRegistration
  readonly returnTo: string
  readonly username?: string
  readonly error?: Status
}
type ResolveUser = (exchange: Exchange, registration: PendingRegistration, form: Form) => Promise<User>

/** Shows the registration page to an authenticated account without a user. */
export async function sendRegistrationPage(
  { tools, registry, productName }: BrowserOptions,
  { req, res }: Exchange,
  { registration, returnTo, username, error }: RegistrationPageState,
): Promise<void> {
  const { config, identity, wants } = registration
  const isLink = wants === 'link'
  const body = (isLink ? linkPage : registrationPage)({
    csrf: issueCsrfToken(req, res),
    returnTo,
    ticket: await issueRegistrationTicket(tools.internalJwts, registration),
    providerName: config.displayName,
    account: identity.username || identity.uid,
    email: identity.email,
    username: username ?? (isLink ? '' : (toUserName(identity.username, config.usernamePrefix) ?? '')),
    error: error && explainWrongLogin(error, { displayName: productName }),
  })
  if (error !== undefined) res.set({ ...error.headers })
  sendPage(res, {
    product: productName,
    title: isLink ? 'Link your user' : 'Your first login',
    body,
    code: error?.code ?? 200,
    formTargets: formTargetsOf(registry, returnTo),
    script: isLink ? 'show-password' : undefined,
  })
}

/**
 * POST /oauth/register: the user name that a new user has chosen. The response reveals whether the
 * name exists, so each account has a limited number of attempts: it could otherwise enumerate the
 * users.
 */
export function createRegistration(options: BrowserOptions): RequestHandler {
  const lockout = createLockout({ rules: { user: perAccount, address: perAccount } })
  return createAccountHandler(options, 'confirmation', async (_exchange, registration, form) => {
    const { config, identity } = registration
    const attempt = await lockout.begin([`user:${config.name} ${identity.uid}`])
    if (typeof attempt === 'number')
      throw oauthError(429, 'slow_down', 'too many user names were tried: try again in ten minutes', {
        headers: { 'retry-after': String(secondsUntil(attempt)) },
        why: 'too_many_user_names',
        provider: config.name,
      })
    try {
      const user = await options.tools.providers.register(registration, (form.get('username') ?? '').trim())
      attempt.passed()
      return user
    } catch (error) {
      attempt.failed()
      throw error
    }
  })
}

/** POST /oauth/link: links the account to a user, after a check of user name and password. */
export function createLinking(options: BrowserOptions): RequestHandler {
  const { tools } = options
  return createAccountHandler(options, 'link', async ({ req, res }, registration, form) => {
    const login = form.get('username') ?? ''
    const attempt = {
      login,
      password: form.get('password') ?? '',
      source: clientInfoOf(req),
      signal: disconnectSignal(res),
    }
    const user = requireValidPassword(await tools.passwords.check(attempt))
    assertUserEnabled(user)
    assertPasswordIsOwn(user)
    // Linking is rejected for users with a second factor, which provider logins might skip.
    await assertNoSecondFactor(tools.factors, user)
    return tools.providers.link(registration, user)
  })
}

/** Handles the registration forms. `resolveUser` creates or links the user, who is then logged in. */
function createAccountHandler(
  options: BrowserOptions,
  wants: PendingRegistration['wants'],
  resolveUser: ResolveUser,
): RequestHandler {
  const { tools, issuer, audit } = options
  const endpoint = wants === 'link' ? 'link' : 'register'
  return withAuditedErrorPage(options, endpoint, async (req, res, event) => {
    const form = readForm(req)
    requireOwnForm(req, form, issuer)
    const returnTo = readReturnTo(form.get('return_to'))
    const registration = await readRegistrationTicket(tools, form.get('ticket') ?? '', wants)
    if (registration === undefined) {
      audit.rejected(req, event, 'ticket_invalid')
      return res.redirect(303, toLoginPath(returnTo))
    }
    event.provider = registration.config.name
    try {
      const user = await resolveUser({ req, res }, registration, form)
      event.user = user.name
      const { idToken, amr = '' } = registration.identity
      const provider = registration.config.name
      const progress = newProgress({ user, provider, amr, idToken, returnTo })
      await continueLogin(options, { req, res }, progress, event)
    } catch (cause) {
      const error = toOAuthError(tools.providers, registration.config.name, cause)
      if (!(error instanceof Status) || !isWrongLogin(error)) throw error
      audit.failed(req, event, error)
      const username = form.get('username') ?? ''
      await sendRegistrationPage(options, { req, res }, { registration, returnTo, username, error })
    }
  })
}
