/**
 * Returns a redirect URI as a CSP form-action source, which browsers also apply to redirects after
 * a form. It is the origin where CSP can express it (it cannot express IPv6 addresses), otherwise
 * the scheme.
 */
export function toFormTarget(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && /^[A-Za-z0-9.-]+$/.test(hostname) ? origin : protocol
}
