import type { RequestHandler } from 'express'
import { audited } from '../audited.ts'
import type { EndpointOptions } from '../endpoints/options.ts'
import { oauthError } from '../error.ts'
import { requireProvider, toOAuthError } from '../provider-login.ts'
import { grantScope } from '../scope.ts'
import { goneSignal } from '../token-endpoint.ts'
import { keepState, newTransaction } from './login-state.ts'
import { queryParameter } from './query.ts'

/**
 * GET /oauth/login/{idp}: sends the browser to the provider. `client_id` names the client that the tokens will be for,
 * `scope` what they are to be good for.
 */
export function createRedirectStart({ issuer, registry, tools, audit }: EndpointOptions): RequestHandler {
  const base = issuer.endsWith('/oauth') ? issuer : `${issuer}/oauth`

  return audited(audit, 'login', async (req, res, event) => {
    const { config, client } = requireProvider(tools.providers, String(req.params.idp))
    event.provider = config.name
    if (client.kind !== 'redirect') {
      throw oauthError(
        400,
        'invalid_request',
        'this identity provider takes a password: POST username and password',
        {
          why: 'provider_takes_passwords',
        },
      )
    }
    const registered = registry.find(queryParameter(req, 'client_id'))
    if (registered === undefined)
      throw oauthError(400, 'invalid_request', 'the parameter client_id must name an OAuth client', {
        why: 'unknown_client',
      })
    event.client = registered.client.name
    const scope = queryParameter(req, 'scope')
    grantScope(scope === '' ? undefined : scope, registered.client)
    const redirectUri = client.redirectUrl || `${base}/callback/${encodeURIComponent(config.name)}`
    const transaction = newTransaction(redirectUri)
    const location = await client.begin(transaction, goneSignal(res)).catch(error => {
      throw toOAuthError(tools.providers, config.name, error)
    })
    await keepState(
      { req, res, statements: tools.statements },
      { provider: config.name, transaction, clientId: registered.client.name, scope },
    )
    res.set({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).redirect(303, location.href)
  })
}
