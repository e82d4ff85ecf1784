/** Returns the URL prefix of the endpoints, which ends in /oauth for any issuer. */
export function endpointBase(issuer: string): string {
  return issuer.endsWith('/oauth') ? issuer : `${issuer}/oauth`
}
