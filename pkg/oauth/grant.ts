import type { ClientConfig } from '../config/config.ts'
import type { PasswordHasher } from '../iam/password.ts'
import type { Session } from '../iam/session.ts'
import type { User } from '../iam/user.ts'
import type { TokenIssuer } from '../token/issue.ts'
import type { TokenVerifier } from '../token/verify.ts'
import type { Form } from './form.ts'

/** RFC 6749 section 5.1. */
export type TokenAnswer = {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly refresh_token: string
  readonly expires_in: number
  /** Said only when it is not what was asked for. */
  readonly scope?: string
}

/** What grants work with; the listener joins it to what keeps users and logins. */
export type GrantTools = {
  readonly users: {
    readonly find: (login: string) => User | undefined
    readonly get: (name: string) => User | undefined
  }
  readonly sessions: {
    readonly create: (session: Omit<Session, 'resourceVersion'>) => Promise<void>
    readonly read: (sid: string) => Promise<Session | undefined>
    readonly update: (session: Session) => Promise<boolean>
  }
  readonly recordLogin: (user: User) => void
  readonly hasher: PasswordHasher
  readonly issuer: TokenIssuer
  readonly verifier: TokenVerifier
  readonly accessTokenSeconds: number
  readonly refreshTokenSeconds: number
}

export type GrantRequest = {
  readonly client: ClientConfig
  readonly form: Form
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal
}

export type Granted = { readonly user: string; readonly answer: TokenAnswer }

/** A grant type: its name on the wire, and what it answers. */
export type Grant = {
  readonly grantType: string
  /** Public clients cannot keep a secret: they may use what needs none of them. */
  readonly isForPublicClients: boolean
  readonly handle: (tools: GrantTools, request: GrantRequest) => Promise<Granted>
}
