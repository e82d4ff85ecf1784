import type { Request, RequestHandler, Response } from 'express'
import { Status } from '../../apierrors/status.ts'
import type { LinkedAccount } from '../../iam/identityprovider/linking/account-linking.ts'
import { assertUserEnabled } from '../check-user-state.ts'
import { listLoginButtons } from '../login-buttons.ts'
import { withErrorPage } from '../pages/error-page.ts'
import { type CurrentLogin, loginPage } from '../pages/login-page.ts'
import { sendPage } from '../pages/page.ts'
import { authenticateAtProvider } from '../provider-login.ts'
import { requireValidPassword } from '../require-valid-password.ts'
import type { TokenEvent } from '../server/audit.ts'
import { clientInfoOf } from '../server/client-info.ts'
import { type Form, readForm, readParameters } from '../server/form.ts'
import { disconnectSignal } from '../tokens/token-endpoint.ts'
import { continueLogin } from './continue-login.ts'
import { formTargetsOf } from './csp-form-targets.ts'
import { issueCsrfToken, requireOwnForm } from './csrf.ts'
import type { BrowserOptions } from './dependencies.ts'
import { explainWrongLogin, isWrongLogin } from './login-failure.ts'
import { newProgress } from './login-progress.ts'
import { readAuthorizationRequest, withLoginProof } from './login-proof.ts'
import { sendRegistrationPage } from './registration-endpoint.ts'
import { readReturnTo } from './return-to.ts'
import { readBrowserLogin } from './session.ts'

type LoginPageState = {
  readonly params: Form
  readonly username: string
  readonly error?: Status
  readonly current?: CurrentLogin | undefined
}

/** GET /oauth/login?return_to=: the login page. */
export function createLoginPage(options: BrowserOptions): RequestHandler {
  return withErrorPage(options.productName, async (req, res) => {
    const params = readParameters(req)
    const current = await findChoice(options, req, readReturnTo(params.get('return_to')))
    sendLoginPage(options, { req, res }, { params, username: params.get('login_hint') ?? '', current })
  })
}

/** Returns the current login if the client only requires that the user selects an account. */
async function findChoice(
  { tools }: BrowserOptions,
  req: Request,
  returnTo: string,
): Promise<CurrentLogin | undefined> {
  const params = readAuthorizationRequest(returnTo)
  if (params?.get('prompt') !== 'select_account') return undefined
  const login = await readBrowserLogin(tools, req)
  if (login === undefined) return undefined
  const { user, sid } = login
  const href = await withLoginProof(tools.internalJwts, returnTo, { kind: 'choice', sid })
  return { username: user.name, href }
}

/** POST /oauth/login: user name and password, checked by Kapis or an identity provider. */
export function createLogin(options: BrowserOptions): RequestHandler {
  const { issuer, audit, productName } = options
  return withErrorPage(productName, async (req, res) => {
    const event: TokenEvent = { endpoint: 'login' }
    const form = readForm(req)
    const provider = form.get('provider') ?? ''
    try {
      requireOwnForm(req, form, issuer)
      const { user, registration } = await authenticate(options, { req, res }, form)
      if (registration !== undefined) {
        event.provider = provider
        audit.pending(
          req,
          event,
          registration.wants === 'link' ? 'user_not_linked' : 'registration_not_confirmed',
        )
        await sendRegistrationPage(
          options,
          { req, res },
          { registration, returnTo: readReturnTo(form.get('return_to')) },
        )
        return
      }
      const returnTo = readReturnTo(form.get('return_to'))
      const progress = newProgress({ user, provider, amr: 'pwd', returnTo })
      await continueLogin(options, { req, res }, progress, event)
    } catch (error) {
      audit.failed(req, event, error)
      if (!(error instanceof Status) || !isWrongLogin(error)) throw error
      sendLoginPage(options, { req, res }, { params: form, username: form.get('username') ?? '', error })
    }
  })
}

async function authenticate(
  { tools }: BrowserOptions,
  { req, res }: { req: Request; res: Response },
  form: Form,
): Promise<LinkedAccount> {
  const username = form.get('username') ?? ''
  const password = form.get('password') ?? ''
  const provider = form.get('provider') ?? ''
  const from = { source: clientInfoOf(req), signal: disconnectSignal(res) }
  if (provider !== '') return authenticateAtProvider(tools, provider, { username, password, ...from })
  const user = requireValidPassword(await tools.passwords.check({ login: username, password, ...from }))
  assertUserEnabled(user)
  return { user }
}

function sendLoginPage(
  options: BrowserOptions,
  { req, res }: { req: Request; res: Response },
  { params, username, error, current }: LoginPageState,
): void {
  const returnTo = readReturnTo(params.get('return_to'))
  const buttons = listLoginButtons(options.tools.providers.store.all())
  const provider = buttons.find(({ name, kind }) => kind === 'password' && name === params.get('provider'))
  const body = loginPage({
    csrf: issueCsrfToken(req, res),
    returnTo,
    provider,
    buttons,
    current,
    username,
    error: error && explainWrongLogin(error, provider),
  })
  if (error !== undefined) res.set({ ...error.headers })
  sendPage(res, {
    product: options.productName,
    title: 'Log in',
    body,
    code: error?.code ?? 200,
    formTargets: formTargetsOf(options.registry, returnTo),
    script: 'show-password',
  })
}
