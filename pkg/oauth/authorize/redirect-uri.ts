import type { ClientConfig } from '../../config/sections/client.ts'
import { oauthError } from '../server/error.ts'

// Matched as text: two parsers that read a URI differently would send the code to different places.
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(\/[^\s#\\@]*)?$/

/**
 * Where the browser goes back to: exactly what the client has registered (RFC 9700 section 2.1), but that a native app on
 * the loopback interface gets its port from the system (RFC 8252 section 7.3). That holds for `localhost` as well where a
 * client has registered that very name, though section 8.3 advises against it: it knows where it listens.
 *
 * @param given undefined when the request names none; then the client must have registered exactly one
 * @throws Status invalid_request, which must be shown here and never sent anywhere
 */
export function chooseRedirectUri(
  client: Pick<ClientConfig, 'redirectURIs' | 'public'>,
  given: string | undefined,
): string {
  const { redirectURIs } = client
  const [only, ...more] = redirectURIs
  if (given === undefined) {
    if (only !== undefined && more.length === 0) return only
    throw oauthError(400, 'invalid_request', 'the parameter redirect_uri is required', {
      why: 'no_redirect_uri',
    })
  }
  if (redirectURIs.includes(given)) return given
  if (client.public && redirectURIs.some(registered => isSameExceptPort(registered, given))) return given
  throw oauthError(400, 'invalid_request', 'redirect URL is not allowed', { why: 'wrong_redirect_uri' })
}

/** Whether two URIs on the loopback interface differ by their port at most. */
export function isSameExceptPort(registered: string, given: string): boolean {
  const [, host, rest] = loopback.exec(registered) ?? []
  const [, givenHost, givenRest] = loopback.exec(given) ?? []
  // A port that does not exist would be no URI.
  return host !== undefined && host === givenHost && rest === givenRest && URL.canParse(given)
}
