const certificate = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** The certificates of a file in PEM (RFC 7468), each without its line end; whatever stands between them is left out. */
export function splitCertificates(pem: string): readonly string[] {
  return pem.match(certificate) ?? []
}
