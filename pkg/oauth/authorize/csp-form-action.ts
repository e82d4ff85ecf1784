/**
 * A redirect URI as a source of the CSP's form-action: browsers hold the redirects after a form to it as well. A host where
 * there can be one (not an IPv6 address, which a CSP cannot name), otherwise the scheme.
 */
export function toFormTarget(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && /^[A-Za-z0-9.-]+$/.test(hostname) ? origin : protocol
}
