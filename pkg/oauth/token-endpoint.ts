import type { Request, Response } from 'express'
import { authenticateClient, type ClientRegistry } from './client.ts'
import { oauthError } from './error.ts'
import { readForm } from './form.ts'
import type { Grant, GrantTools } from './grant.ts'
import { passwordGrant } from './grants/password.ts'
import { refreshTokenGrant } from './grants/refresh-token.ts'

/** The grants of the token endpoint; a new one is one more file and one more name here. */
export const grants: readonly Grant[] = [passwordGrant, refreshTokenGrant]

/** POST /oauth/token (RFC 6749 section 3.2): the client first, then the grant, then whatever it asks for. */
export function createTokenEndpoint(registry: ClientRegistry, tools: GrantTools) {
  return async (req: Request, res: Response): Promise<void> => {
    const form = readForm(req)
    const client = authenticateClient(registry, form, req.headers.authorization)
    const grant = grants.find(({ grantType }) => grantType === form.get('grant_type'))
    if (grant === undefined) throw oauthError(400, 'unsupported_grant_type', '')
    const answer = await grant.handle(tools, { client, form })
    // RFC 6749 section 5.1: what holds tokens is never stored.
    res.set({ 'cache-control': 'no-store', pragma: 'no-cache' }).json(answer)
  }
}
