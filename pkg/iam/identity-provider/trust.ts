import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { splitCertificates } from '../../certs/pem.ts'
import { type Fields, text } from '../../config/fields.ts'

/** Whose certificates a provider's server may show. */
export type Trust = {
  /** PEM; undefined for the authorities that the program trusts anyway. */
  readonly ca: string | undefined
  readonly isVerified: boolean
}

export const trustKeys: readonly string[] = ['rootCA', 'rootCAData', 'insecureSkipVerify']

/** `rootCA` names a file, `rootCAData` holds the PEM itself or its Base64. Verification is off only where that is said. */
export function readTrust(provider: Fields): Trust {
  const file = text(provider, 'rootCA', { default: '' })
  const data = text(provider, 'rootCAData', { default: '' })
  const isVerified = !provider.boolean('insecureSkipVerify', false)
  if (file !== '' && data !== '') provider.problem('rootCAData', 'must not be set together with rootCA')
  if (file !== '') return { ca: readCertificates(provider, 'rootCA', readPem(provider, file)), isVerified }
  if (data === '') return { ca: undefined, isVerified }
  const pem = data.includes('-----BEGIN') ? data : Buffer.from(data, 'base64').toString('utf8')
  return { ca: readCertificates(provider, 'rootCAData', pem), isVerified }
}

function readPem(provider: Fields, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    provider.problem('rootCA', `cannot be read${code}`)
    return ''
  }
}

/** Node.js takes anything as an authority and then trusts nobody; that is told here instead of at the first login. */
function readCertificates(provider: Fields, key: string, pem: string): string | undefined {
  const certificates = splitCertificates(pem)
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
    if (certificates.length > 0) return certificates.join('\n')
  } catch {
    // Told below.
  }
  if (pem !== '') provider.problem(key, 'must be certificates in PEM')
  return undefined
}
