import type { ClientConfig } from '../../config/sections/client.ts'
import { invalidRequest } from '../server/error.ts'

// Redirect URIs are matched as text: parsers that disagree could send the code elsewhere.
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d{1,5})?(\/[^\s#\\@]*)?$/

/**
 * Validates the redirect URI: it must equal a registered URI (RFC 9700 section 2.1). Only the port
 * of a loopback address may differ, which native apps choose at run time (RFC 8252 section 7.3).
 * The same applies to a registered `localhost`, although section 8.3 advises against it.
 *
 * @param requested undefined if the request has none; then the client must have registered exactly one
 * @throws Status invalid_request, which must be shown here and not sent to a redirect URI
 */
export function chooseRedirectUri(
  client: Pick<ClientConfig, 'redirectURIs' | 'public'>,
  requested: string | undefined,
): string {
  const { redirectURIs } = client
  const [only, ...more] = redirectURIs
  if (requested === undefined) {
    if (only !== undefined && more.length === 0) return only
    throw invalidRequest('the parameter redirect_uri is required', {
      why: 'no_redirect_uri',
    })
  }
  if (redirectURIs.includes(requested)) return requested
  if (client.public && redirectURIs.some(registered => isSameExceptPort(registered, requested)))
    return requested
  throw invalidRequest('redirect URL is not allowed', { why: 'wrong_redirect_uri' })
}

/** Reports whether two loopback URIs are equal except for the port. */
export function isSameExceptPort(registered: string, requested: string): boolean {
  const [, host, rest] = loopback.exec(registered) ?? []
  const [, givenHost, givenRest] = loopback.exec(requested) ?? []
  // An invalid port number would make the URI invalid.
  return host !== undefined && host === givenHost && rest === givenRest && URL.canParse(requested)
}
