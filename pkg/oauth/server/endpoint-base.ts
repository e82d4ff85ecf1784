/**
 * Returns the URL prefix of the endpoints. It ends in /oauth even if the issuer is a bare host, as
 * on some platforms.
 */
export function endpointBase(issuer: string): string {
  return issuer.endsWith('/oauth') ? issuer : `${issuer}/oauth`
}
