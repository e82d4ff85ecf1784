/**
 * Returns the CSP form-action source of a redirect URI, since browsers also apply form-action to
 * redirects after a form. The source is the origin, or the scheme where CSP cannot express the
 * origin (IPv6 addresses).
 */
export function toFormTarget(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri)
  const isWeb = protocol === 'https:' || protocol === 'http:'
  return isWeb && /^[A-Za-z0-9.-]+$/.test(hostname) ? origin : protocol
}
