import type { ClientConfig } from '../../config/sections/client.ts'
import type { ExchangePolicy } from '../../config/sections/token-exchange.ts'
import type { Session } from '../../iam/sessions/session.ts'
import type { User } from '../../iam/users/user.ts'

/** A verified subject token, and what it can be exchanged for. */
export type ExchangeableToken = {
  readonly policy: ExchangePolicy
  readonly user: User
  /** `sub` of the subject token, for the audit log. */
  readonly subject: string
  /** Of an access token of Kapis. */
  readonly login: Session | undefined
  /** Seconds since the epoch. */
  readonly expiresAt: number
  /** The scope of an access token of Kapis, which limits that of the exchanged token. */
  readonly scope: string | undefined
}

export type SubjectTokens = {
  /** The audience of tokens for Kapis. */
  readonly audience: string
  /** @throws Status unauthorized_client, invalid_request, invalid_grant, temporarily_unavailable */
  readonly find: (client: ClientConfig, token: string) => Promise<ExchangeableToken>
}
