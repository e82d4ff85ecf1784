/** Reports whether a text is an origin as browsers send it (RFC 6454 section 6.2). */
export function isOrigin(origin: string): boolean {
  return /^https?:/i.test(origin)
    ? URL.parse(origin)?.origin === origin && !origin.includes('*')
    : /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+$/.test(origin)
}

/** Validates a redirect URI, which is compared as text: no patterns, no ambiguous URIs. */
export function redirectProblem(uri: string, isPublic: boolean): string | undefined {
  if (uri === '*') return 'must be one URI; * would send authorization codes to any site'
  // Without a host, a browser resolves the URI against the page of Kapis.
  const lacksHost = /^https?:/i.test(uri) && !/^https?:\/\/[^/]/i.test(uri)
  if (lacksHost || !URL.canParse(uri) || /[^\x21-\x7e]|[\\*]/.test(uri))
    return 'must be an absolute URI without wildcards'
  const { protocol, username, password } = new URL(uri)
  // RFC 6749 section 3.1.2: the URI must not have a fragment.
  if (uri.includes('#') || username !== '' || password !== '') return 'must not have a fragment or a user'
  const isWeb = protocol === 'https:' || protocol === 'http:'
  // RFC 8252 section 7.1: a private-use scheme is a reversed domain name, which excludes
  // javascript: and data:.
  const isNative = isPublic && /^[a-z][a-z0-9+-]*\.[a-z0-9.+-]+:$/.test(protocol)
  return isWeb || isNative
    ? undefined
    : 'must be an http(s) URL, or for a public client a private-use scheme that contains a dot (RFC 8252)'
}

/** Validates a logout URI. Kapis sends a token to it, so it must use TLS. */
export function backchannelProblem(uri: string): string | undefined {
  const isHttps = /^https:\/\//i.test(uri)
  const isLoopback = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?=[:/?#]|$)/i.test(uri)
  if (!isHttps && !isLoopback) return 'must be an https URL, or an http URL of a loopback address'
  return redirectProblem(uri, false)
}
