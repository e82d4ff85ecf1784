import type { Request, Response } from 'express'
import type { AuthenticateClient } from '../client.ts'
import { authorizationCodeGrant } from '../grants/authorization-code.ts'
import { clientCredentialsGrant } from '../grants/client-credentials.ts'
import { deviceCodeGrant } from '../grants/device-code.ts'
import { passwordGrant } from '../grants/password.ts'
import { refreshTokenGrant } from '../grants/refresh-token.ts'
import { tokenExchangeGrant } from '../grants/token-exchange.ts'
import type { TokenAudit, TokenEvent } from '../server/audit.ts'
import { clientInfoOf } from '../server/client-info.ts'
import { invalidRequest, oauthError } from '../server/error.ts'
import { readForm, requireParameter } from '../server/form.ts'
import type { Grant, GrantOutcome, GrantTools } from './grant.ts'
import { assertResources } from './validate-resource-indicators.ts'

export const grants: readonly Grant[] = [
  authorizationCodeGrant,
  passwordGrant,
  refreshTokenGrant,
  clientCredentialsGrant,
  deviceCodeGrant,
  tokenExchangeGrant,
]

export type TokenEndpointOptions = {
  readonly authenticateClient: AuthenticateClient
  readonly tools: GrantTools
  readonly audit: TokenAudit
}

/**
 * POST /oauth/token (RFC 6749 section 3.2): authenticates the client, then checks that it may use
 * the grant, then runs the grant.
 */
export function createTokenEndpoint({ authenticateClient, tools, audit }: TokenEndpointOptions) {
  async function handle(req: Request, res: Response, event: TokenEvent): Promise<GrantOutcome> {
    const form = readForm(req)
    const client = await authenticateClient(req, form)
    event.client = client.name
    const type = requireParameter(form, 'grant_type')
    const grant = grants.find(({ grantType, alias }) => grantType === type || alias === type)
    if (grant === undefined) throw oauthError(400, 'unsupported_grant_type', '')
    event.grant = grant.grantType
    if (!client.grantTypes.includes(grant.grantType))
      throw oauthError(400, 'unauthorized_client', 'the client may not use this grant type')
    assertResources(form)
    return grant.handle(tools, { client, form, source: clientInfoOf(req), signal: disconnectSignal(res) })
  }

  return async (req: Request, res: Response): Promise<void> => {
    const event: TokenEvent = {}
    try {
      const { response, ...whose } = await handle(req, res, event)
      // RFC 6749 section 5.1: responses with tokens must not be cached.
      res.set({ 'cache-control': 'no-store', pragma: 'no-cache' }).json(response)
      audit.succeeded(req, { ...event, ...whose })
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
  }
}

/** Returns a signal that aborts when the client disconnects, before a needless hash. */
export function disconnectSignal(res: Response): AbortSignal {
  const gone = new AbortController()
  res.once('close', () => {
    // 'close' also follows a complete response, which must not abort.
    if (!res.writableFinished) gone.abort(invalidRequest('the client closed the connection'))
  })
  return gone.signal
}
