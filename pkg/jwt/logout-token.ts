import type { SigningAlgorithm } from './key-set.ts'
import type { KeySource } from './key-source.ts'
import { signUserToken } from './sign.ts'

/** The ended login, with the identifiers of the ID tokens of its client. */
export type LogoutTokenSubject = {
  readonly username: string
  readonly sid: string
  readonly clientId: string
}

export type LogoutTokenSigner = (subject: LogoutTokenSubject, alg: SigningAlgorithm) => Promise<string>

// The maximum of the specification (OpenID Connect Back-Channel Logout 1.0 section 4).
const lifeSeconds = 120
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'

/**
 * Signs logout tokens (OpenID Connect Back-Channel Logout 1.0 section 2.4). Their type and the
 * absence of a nonce distinguish them from ID tokens.
 */
export function createLogoutTokenSigner(options: { issuer: string; keys: KeySource }): LogoutTokenSigner {
  return async ({ username, sid, clientId }, alg) => {
    const of = { typ: 'logout+jwt', alg, username, aud: clientId, lifeSeconds }
    return (await signUserToken(options, of, { sid, events: { [logoutEvent]: {} } })).token
  }
}
