import type { RequestHandler } from 'express'
import type { ClientConfig } from '../../config/sections/client.ts'
import { loginClaims } from '../../jwt/authentication-methods.ts'
import { oauthError } from '../server/error.ts'
import { readForm, requireParameter } from '../server/form.ts'
import { withAudit } from '../server/with-audit.ts'
import {
  type ValidToken,
  validateAccessToken,
  validateIssuedToken,
  validateRefreshToken,
} from '../tokens/token-validation.ts'
import type { EndpointOptions } from './dependencies.ts'

/**
 * POST /oauth/introspect (RFC 7662), for confidential clients. A client sees its own tokens and the
 * access tokens with its name as audience; a trusted client sees all access tokens for Kapis. Other
 * tokens are reported as inactive (section 2.2), so that no server accepts a token meant for
 * another. `auth_time`, `acr` and `amr` describe the login (RFC 9470 section 6.2).
 */
export function createIntrospection({
  issuer,
  authenticateClient,
  tools,
  audit,
}: EndpointOptions): RequestHandler {
  async function find(client: ClientConfig, token: string): Promise<object | undefined> {
    const isOwn = ({ claims }: ValidToken) => claims.clientId === client.name
    const issued = await validateIssuedToken(tools, token)
    if (issued !== undefined) {
      const isShown =
        isOwn(issued) ||
        issued.claims.aud.includes(client.name) ||
        (client.trusted && (await validateAccessToken(tools, token)) !== undefined)
      return isShown ? { token_type: 'Bearer', ...describe(issued) } : undefined
    }
    const refresh = await validateRefreshToken(tools, token)
    return refresh !== undefined && isOwn(refresh) ? describe(refresh) : undefined
  }

  const describe = ({ claims, user }: ValidToken) => ({
    ...(claims.scope === '' ? {} : { scope: claims.scope }),
    client_id: claims.clientId,
    username: user.name,
    sub: user.name,
    iss: issuer,
    aud: claims.aud,
    iat: claims.iat,
    exp: claims.exp,
    jti: claims.jti,
    ...loginClaims(claims.login),
  })

  return withAudit(audit, 'introspect', async (req, res, event) => {
    const form = readForm(req)
    const client = await authenticateClient(req, form)
    event.client = client.name
    if (client.public)
      throw oauthError(401, 'invalid_client', 'public clients cannot use introspection', {
        why: 'public_client',
      })
    const token = requireParameter(form, 'token')
    const found = await find(client, token)
    res.set({ 'cache-control': 'no-store', pragma: 'no-cache' })
    res.json(found === undefined ? { active: false } : { active: true, ...found })
  })
}
