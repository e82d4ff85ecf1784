import type { ClientConfig, GrantType } from '../../config/sections/client.ts'
import type { FactorService } from '../../iam/factors/factor-service.ts'
import type { PasswordChecker } from '../../iam/passwords/password-check.ts'
import type { LoggedIn } from '../../iam/passwords/password-service.ts'
import type { ClientInfo } from '../../iam/sessions/client-info.ts'
import type { DeviceStore } from '../../iam/sessions/device-authorization.ts'
import type { NewSession, Session } from '../../iam/sessions/session.ts'
import type { User } from '../../iam/users/user.ts'
import type { InternalJwts } from '../../jwt/internal-jwt.ts'
import type { TokenIssuer } from '../../jwt/issue.ts'
import type { TokenVerifier } from '../../jwt/verify.ts'
import type { ProviderTools } from '../provider-login.ts'
import type { Form } from '../server/form.ts'
import type { SubjectTokens } from './exchangeable-token.ts'
import type { Lifetimes } from './lifetimes.ts'

/** The response of the token endpoint (RFC 6749 section 5.1). */
export type TokenResponse = {
  readonly access_token: string
  readonly token_type: 'Bearer'
  /** Absent if the client can repeat the grant. */
  readonly refresh_token?: string
  readonly expires_in: number
  /** The ID token (OpenID Connect Core section 3.1.3.3). */
  readonly id_token?: string
  /** The type of an exchanged token (RFC 8693 section 2.2.1). */
  readonly issued_token_type?: string
  /** Only set if it differs from the requested scope. */
  readonly scope?: string
}

/** Dependencies of grants. */
export type GrantTools = {
  readonly users: {
    readonly find: (login: string) => User | undefined
    readonly get: (name: string) => User | undefined
  }
  readonly sessions: {
    readonly create: (session: NewSession) => Promise<Session>
    readonly read: (sid: string) => Promise<Session | undefined>
    readonly list: (user: string) => Promise<readonly Session[]>
    readonly update: (session: Session) => Promise<boolean>
    /** Reads the cache of the watch: fast, but slightly delayed. */
    readonly isRevoked: (sid: string, issuedAtSeconds: number) => boolean
  }
  readonly recordLogin: (login: LoggedIn) => void
  readonly passwords: PasswordChecker
  readonly factors: FactorService
  readonly providers: ProviderTools
  readonly issuer: TokenIssuer
  readonly verifier: TokenVerifier
  readonly internalJwts: InternalJwts
  readonly subjectTokens: SubjectTokens
  /** Whether a user may have several logins. If not, a new login ends the others. */
  readonly multipleLogin: () => boolean
  readonly devices: Pick<DeviceStore, 'create' | 'read' | 'update' | 'remove'>
  /** Reports whether a device respects the polling interval. */
  readonly isPollInTime: (device: string) => boolean
  /** Token lifetimes for clients that do not set their own. */
  readonly lifetimes: Lifetimes
}

export type GrantRequest = {
  readonly client: ClientConfig
  readonly form: Form
  readonly source: ClientInfo
  /** Aborts when the client closes the connection. */
  readonly signal: AbortSignal
}

export type GrantOutcome = {
  readonly user: string
  /** The identity provider that has authenticated the user for this request. */
  readonly provider?: string
  /** The subject of an exchanged token, and the policy that allowed it. */
  readonly subject?: string
  readonly policy?: string
  readonly response: TokenResponse
}

export type Grant = {
  /** The grant_type parameter, and the name in the grantTypes of a client. */
  readonly grantType: GrantType
  /** An alias of grant_type for compatibility. */
  readonly alias?: string
  readonly handle: (tools: GrantTools, request: GrantRequest) => Promise<GrantOutcome>
}
