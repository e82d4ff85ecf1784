import type { RequestHandler } from 'express'
import { passwordGrant } from '../grants/password.ts'
import { requireProvider } from '../provider-login.ts'
import { clientInfoOf } from '../server/client-info.ts'
import { invalidRequest, oauthError } from '../server/error.ts'
import { readForm } from '../server/form.ts'
import { withAudit } from '../server/with-audit.ts'
import { disconnectSignal } from '../tokens/token-endpoint.ts'
import type { EndpointOptions } from './dependencies.ts'

/**
 * POST /oauth/login/{idp}: the password grant of KubeSphere 3.4, with the identity provider in the
 * path. Unlike in KubeSphere, the client must authenticate, by form or HTTP Basic: otherwise anyone
 * could try passwords of the directory.
 */
export function createPasswordLogin({ authenticateClient, tools, audit }: EndpointOptions): RequestHandler {
  return withAudit(audit, 'login', async (req, res, event) => {
    const idp = String(req.params.idp)
    event.grant = passwordGrant.grantType
    const form = new Map(readForm(req))
    const client = await authenticateClient(req, form)
    event.client = client.name
    if (!client.grantTypes.includes(passwordGrant.grantType))
      throw oauthError(400, 'unauthorized_client', 'the client may not use this grant type')
    if (form.has('provider') && form.get('provider') !== idp)
      throw invalidRequest('the parameter provider must match the path')
    form.set('provider', idp)
    // Only a known provider is logged: other text in the path may be anything.
    requireProvider(tools.providers, idp)
    event.provider = idp
    const { user, response } = await passwordGrant.handle(tools, {
      client,
      form,
      source: clientInfoOf(req),
      signal: disconnectSignal(res),
    })
    event.user = user
    res.set({ 'cache-control': 'no-store', pragma: 'no-cache' }).json(response)
  })
}
