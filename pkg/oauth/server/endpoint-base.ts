/**
 * Returns the prefix of endpoint URLs. Some platforms use the bare host as issuer; the endpoints
 * are below /oauth in any case.
 */
export function endpointBase(issuer: string): string {
  return issuer.endsWith('/oauth') ? issuer : `${issuer}/oauth`
}
