import type { RequestHandler } from 'express'
import { isStatus } from '../../apierrors/status.ts'
import { endLogin } from '../../iam/sessions/revoke-session.ts'
import type { TokenClaims } from '../../jwt/verify.ts'
import { invalidGrant } from '../server/error.ts'
import { readForm, requireParameter } from '../server/form.ts'
import { withAudit } from '../server/with-audit.ts'
import type { GrantTools } from '../tokens/grant.ts'
import type { EndpointOptions } from './dependencies.ts'

/**
 * POST /oauth/revoke (RFC 7009). Revoking the access or refresh token of a login ends the login.
 * Unknown, expired and revoked tokens get the same response as valid ones (section 2.2). The token
 * of another client is rejected and stays valid (section 2.1), even if this client is its audience.
 */
export function createRevocation({ authenticateClient, tools, audit }: EndpointOptions): RequestHandler {
  return withAudit(audit, 'revoke', async (req, res, event) => {
    const form = readForm(req)
    const client = await authenticateClient(req, form)
    event.client = client.name
    const token = requireParameter(form, 'token')
    const claims = await readClaims(tools, token)
    if (claims !== undefined) {
      event.sid = claims.sid
      if (claims.clientId !== client.name)
        throw invalidGrant('the token was issued to another client', {
          why: 'wrong_client',
        })
      event.user = claims.sub
      const session = await tools.sessions.read(claims.sid)
      if (session !== undefined) await endLogin(tools.sessions, session, 'revoked by its client')
    }
    res.set({ 'cache-control': 'no-store', pragma: 'no-cache' }).status(200).end()
  })
}

/** Returns the claims of an access or refresh token, which has its type in itself. */
async function readClaims({ verifier }: GrantTools, token: string): Promise<TokenClaims | undefined> {
  for (const verify of [verifier.verifyIssued, verifier.verifyRefresh]) {
    try {
      return await verify(token)
    } catch (error) {
      if (!isStatus(error, 401)) throw error
    }
  }
  return undefined
}
