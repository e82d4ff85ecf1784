import type { Request, RequestHandler, Response } from 'express'
import type { LinkedAccount } from '../../iam/identityprovider/linking/account-linking.ts'
import type { AuthenticationMethods } from '../../jwt/authentication-methods.ts'
import { continueLogin } from '../browser/continue-login.ts'
import type { BrowserOptions } from '../browser/dependencies.ts'
import { newProgress } from '../browser/login-progress.ts'
import { sendRegistrationPage } from '../browser/registration-endpoint.ts'
import { assertUserEnabled } from '../check-user-state.ts'
import { beginLogin } from '../login.ts'
import { takesHtml } from '../pages/error-page.ts'
import { requireProvider, requireUser, toOAuthError } from '../provider-login.ts'
import { assertNoSecondFactor } from '../second-factor.ts'
import type { TokenEvent } from '../server/audit.ts'
import { clientInfoOf } from '../server/client-info.ts'
import { invalidRequest } from '../server/error.ts'
import { readParameters } from '../server/form.ts'
import type { GrantTools } from '../tokens/grant.ts'
import { disconnectSignal } from '../tokens/token-endpoint.ts'
import { type LoginFlowState, withLoginErrorPage } from './error-page.ts'
import { type LoginState, takeState } from './login-state.ts'

/**
 * GET /oauth/callback/{idp}: completes a login at an identity provider. The browser continues at
 * `return_to`, logged in, or gets tokens for the client that started the login. The state cookie
 * proves that the same browser started the login. The client does not authenticate here: the tokens
 * are for the user of the browser, and a refresh requires the client secret.
 *
 * In KubeSphere 3.4 the provider may redirect to a console, which passes on only the code. This is
 * not supported: such a code may come from an attacker (login CSRF), and neither PKCE nor a nonce
 * could be checked. A console with its own redirect URI proxies `/oauth/login/{idp}` and
 * `/oauth/callback/{idp}` including cookies, and is set as redirectURL. Other consoles use the
 * authorization endpoint.
 */
export function createCallback(options: BrowserOptions): RequestHandler {
  const { registry, tools, audit, productName } = options

  async function finish(
    { req, res, loginFlow }: Exchange & { loginFlow: LoginFlowState },
    event: TokenEvent,
  ): Promise<void> {
    const idp = String(req.params.idp)
    // Only a known provider is logged: other text in the path may be anything.
    if (tools.providers.store.get(idp) !== undefined) event.provider = idp
    const stateText = readParameters(req).get('state') ?? ''
    const state = await takeState(tools.internalJwts, { req, res }, stateText)
    if (state === undefined || state.provider !== idp) {
      const what = 'the login was not started in this browser, or more than ten minutes ago; start again'
      throw invalidRequest(what, { why: 'state_mismatch' })
    }
    loginFlow.returnTo = state.returnTo
    if (state.returnTo !== '') {
      const { admitted, idToken, amr } = await identify(tools, { req, res }, state)
      const { registration } = admitted
      if (registration !== undefined && takesHtml(req)) {
        await sendRegistrationPage(options, { req, res }, { registration, returnTo: state.returnTo })
        return audit.succeeded(req, event)
      }
      const user = requireUser(tools.providers, admitted)
      const { returnTo } = state
      const progress = newProgress({ user, provider: idp, amr, idToken, returnTo })
      return continueLogin(options, { req, res }, progress, event)
    }
    event.client = state.clientId
    const client = registry.find(state.clientId)?.client
    if (client === undefined) throw invalidRequest('the OAuth client was deleted')
    const { admitted, amr } = await identify(tools, { req, res }, state)
    const user = requireUser(tools.providers, admitted)
    event.user = user.name
    const requestedScope = state.scope === '' ? undefined : state.scope
    await assertNoSecondFactor(tools.factors, user, amr)
    const login = { user, client, provider: idp, amr, requestedScope, source: clientInfoOf(req) }
    const { response } = await beginLogin(tools, login)
    audit.succeeded(req, event)
    res.json(response)
  }

  return withLoginErrorPage(productName, async (req, res, loginFlow) => {
    res.set({ 'cache-control': 'no-store', pragma: 'no-cache', 'referrer-policy': 'no-referrer' })
    const event: TokenEvent = { endpoint: 'callback' }
    try {
      await finish({ req, res, loginFlow }, event)
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
  })
}

type Exchange = { readonly req: Request; readonly res: Response }

/** Completes the login and returns the account. @throws Status */
async function identify(
  tools: GrantTools,
  { req, res }: Exchange,
  state: LoginState,
): Promise<{ admitted: LinkedAccount; idToken: string | undefined; amr: AuthenticationMethods }> {
  const { config, client } = requireProvider(tools.providers, state.provider)
  if (client.kind !== 'redirect')
    throw invalidRequest('the configuration of the identity provider has changed; start again')
  const { transaction } = state
  try {
    const callback = new URL(req.originalUrl, transaction.redirectUri)
    const identity = await client.finish(callback, transaction, disconnectSignal(res))
    const admitted = await tools.providers.findOrCreate(config, identity)
    if (admitted.user !== undefined) assertUserEnabled(admitted.user)
    return { admitted, idToken: identity.idToken, amr: identity.amr ?? '' }
  } catch (error) {
    throw toOAuthError(tools.providers, state.provider, error)
  }
}
