const certificate = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** Returns the certificates of a PEM file (RFC 7468) without final line breaks. */
export function splitCertificates(pem: string): readonly string[] {
  return pem.match(certificate) ?? []
}
