/** What the URLs of the endpoints begin with. Some platforms name the host alone as their issuer; the endpoints are where they are. */
export function endpointBase(issuer: string): string {
  return issuer.endsWith('/oauth') ? issuer : `${issuer}/oauth`
}
