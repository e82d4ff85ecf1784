import type { Request, RequestHandler, Response } from 'express'
import type { UpstreamPrompt } from '../../iam/identityprovider/external-identity.ts'
import type { BrowserOptions } from '../browser/dependencies.ts'
import { readAuthorizationRequest } from '../browser/login-proof.ts'
import { readReturnTo } from '../browser/return-to.ts'
import type { EndpointOptions } from '../endpoints/dependencies.ts'
import { requireProvider, toOAuthError } from '../provider-login.ts'
import type { TokenEvent } from '../server/audit.ts'
import { endpointBase } from '../server/endpoint-base.ts'
import { invalidRequest } from '../server/error.ts'
import { type Form, readParameters } from '../server/form.ts'
import { withAudit } from '../server/with-audit.ts'
import { grantScope } from '../tokens/scope.ts'
import { disconnectSignal } from '../tokens/token-endpoint.ts'
import { type LoginFlowState, withLoginErrorPage } from './error-page.ts'
import { keepState, type LoginState, newTransaction } from './login-state.ts'

/**
 * GET /oauth/login/{idp}: redirects the browser to the provider. With `return_to`, the browser
 * continues there after the login. Otherwise the client `client_id` gets tokens for `scope`.
 */
export function createRedirectToProvider(options: BrowserOptions): RequestHandler {
  const { tools, audit, productName, issuer } = options
  const base = endpointBase(issuer)

  async function start(
    { req, res, loginFlow }: { req: Request; res: Response; loginFlow: LoginFlowState },
    event: TokenEvent,
  ): Promise<void> {
    const idp = String(req.params.idp)
    // Only a known provider is logged: other text in the path may be anything.
    if (tools.providers.store.get(idp) !== undefined) event.provider = idp
    const params = readParameters(req)
    loginFlow.returnTo = params.get('return_to') ?? ''
    const { config, client } = requireProvider(tools.providers, idp)
    if (client.kind !== 'redirect') {
      const what = 'this identity provider requires a password: POST username and password'
      throw invalidRequest(what, { why: 'provider_takes_passwords' })
    }
    const destination = readDestination(options, params)
    if (destination.clientId !== '') event.client = destination.clientId
    const redirectUri = client.redirectUrl || `${base}/callback/${encodeURIComponent(config.name)}`
    const transaction = newTransaction(redirectUri)
    const location = await client
      .begin(transaction, disconnectSignal(res), toPrompt(destination.returnTo))
      .catch(error => {
        throw toOAuthError(tools.providers, config.name, error)
      })
    await keepState(tools.internalJwts, res, { provider: config.name, transaction, ...destination })
    res.set({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).redirect(303, location.href)
  }

  return withLoginErrorPage(productName, async (req, res, loginFlow) => {
    const handle = withAudit(audit, 'login', (_req, _res, event) => start({ req, res, loginFlow }, event))
    await handle(req, res, () => undefined)
  })
}

/** Returns prompt and max_age for the provider, which may have an older login. */
function toPrompt(returnTo: string): UpstreamPrompt | undefined {
  const params = readAuthorizationRequest(returnTo)
  const prompts = (params?.get('prompt') ?? '').split(' ')
  if (prompts.includes('login') || params?.has('max_age')) return 'login'
  return prompts.includes('select_account') ? 'select_account' : undefined
}

type Destination = Pick<LoginState, 'returnTo' | 'clientId' | 'scope'>

/** Returns where the login continues. @throws Status invalid_request, invalid_scope */
function readDestination({ registry }: EndpointOptions, params: Form): Destination {
  const returnTo = params.get('return_to')
  if (returnTo !== undefined) return { returnTo: readReturnTo(returnTo), clientId: '', scope: '' }
  const registered = registry.find(params.get('client_id') ?? '')
  if (registered === undefined) {
    const what = 'the parameter client_id or return_to is required'
    throw invalidRequest(what, { why: 'unknown_client' })
  }
  const scope = params.get('scope')
  grantScope(scope, registered.client)
  return { returnTo: '', clientId: registered.client.name, scope: scope ?? '' }
}
