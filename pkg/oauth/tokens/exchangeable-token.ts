import type { ClientConfig } from '../../config/sections/client.ts'
import type { ExchangePolicy } from '../../config/sections/token-exchange.ts'
import type { Session } from '../../iam/sessions/session.ts'
import type { User } from '../../iam/users/user.ts'

/** A verified subject token, and the policy and user for its exchange. */
export type ExchangeableToken = {
  readonly policy: ExchangePolicy
  readonly user: User
  /** `sub` of the subject token, for the audit log. */
  readonly subject: string
  /** The session of an access token of Kapis; undefined for another token. */
  readonly login: Session | undefined
  /** When the subject token expires, in seconds since the epoch. */
  readonly expiresAt: number
  /** The scope of an access token of Kapis, which limits the scope of the exchanged token. */
  readonly scope: string | undefined
}

export type SubjectTokens = {
  /** The audience of access tokens for Kapis. */
  readonly audience: string
  /** Verifies a token and finds its policy. @throws Status with an OAuth code */
  readonly find: (client: ClientConfig, token: string) => Promise<ExchangeableToken>
}
