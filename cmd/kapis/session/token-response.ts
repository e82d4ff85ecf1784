import { type HttpResponse, parseJson, toError } from './http.ts'
import type { Client } from './issuer.ts'
import type { StoredLogin } from './login-store.ts'

/** The fields of a token response that a login stores. */
export type Tokens = Pick<
  StoredLogin,
  'clientId' | 'clientSecret' | 'accessToken' | 'refreshToken' | 'issuedAtMs' | 'expiresAtMs'
>

// A year. Date cannot represent any number of seconds.
const maxSeconds = 31_536_000

/** Parses a token response (RFC 6749 section 5.1). @throws Error with the server's message */
export function toTokens(client: Client, response: HttpResponse, what: string): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = parseJson(response)
  if (response.status !== 200 || typeof accessToken !== 'string') throw toError(response, what)
  const issuedAtMs = Date.now()
  return {
    clientId: client.id,
    clientSecret: client.secret,
    accessToken,
    refreshToken: typeof refreshToken === 'string' ? refreshToken : '',
    issuedAtMs,
    expiresAtMs: issuedAtMs + (typeof seconds === 'number' ? Math.min(seconds, maxSeconds) : 0) * 1000,
  }
}
