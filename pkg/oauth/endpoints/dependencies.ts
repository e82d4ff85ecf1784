import type { AuthenticateClient, ClientRegistry } from '../client.ts'
import type { TokenAudit } from '../server/audit.ts'
import type { GrantTools } from '../tokens/grant.ts'

/** Dependencies of the endpoints other than the token endpoint. */
export type EndpointOptions = {
  readonly issuer: string
  readonly registry: ClientRegistry
  readonly authenticateClient: AuthenticateClient
  readonly tools: GrantTools
  readonly audit: TokenAudit
}
