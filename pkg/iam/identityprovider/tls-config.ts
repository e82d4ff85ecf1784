import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { splitCertificates } from '../../certs/pem.ts'
import { boolean, text } from '../../config/option.ts'

/** How to verify the servers of a provider. */
export type Trust = {
  /** CA certificates in PEM; undefined for the default CAs of the program. */
  readonly ca: string | undefined
  readonly isVerified: boolean
}

export const trustOptions = {
  rootCA: text({ default: '', description: 'PEM file with the CAs of the provider.' }),
  rootCAData: text({ default: '', description: 'The CAs of the provider, as PEM or base64-encoded PEM.' }),
  insecureSkipVerify: boolean({
    default: false,
    description: 'Whether certificate verification is disabled.',
  }),
}

type TlsOptions = {
  readonly rootCA: string
  readonly rootCAData: string
  readonly insecureSkipVerify: boolean
}

/** Reports an invalid option; `key` is a path with dots. */
export type ReportIssue = (key: string, message: string) => void

/** Returns a function that adds invalid options to the issues of a schema. */
export function createIssueReporter(
  addIssue: (issue: { readonly code: 'custom'; readonly path: string[]; readonly message: string }) => void,
): ReportIssue {
  return (key, message) => addIssue({ code: 'custom', path: key.split('.'), message })
}

/** Reads the TLS options. Verification can only be disabled explicitly. */
export function readTrust(
  { rootCA, rootCAData, insecureSkipVerify }: TlsOptions,
  reportIssue: ReportIssue,
): Trust {
  const isVerified = !insecureSkipVerify
  if (rootCA !== '' && rootCAData !== '') reportIssue('rootCAData', 'must not be set together with rootCA')
  if (rootCA !== '')
    return { ca: readCertificates(reportIssue, 'rootCA', readPem(reportIssue, rootCA)), isVerified }
  if (rootCAData === '') return { ca: undefined, isVerified }
  const isPem = rootCAData.includes('-----BEGIN')
  const pem = isPem ? rootCAData : Buffer.from(rootCAData, 'base64').toString('utf8')
  return { ca: readCertificates(reportIssue, 'rootCAData', pem), isVerified }
}

function readPem(reportIssue: ReportIssue, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    reportIssue('rootCA', `cannot be read${code}`)
    return ''
  }
}

/** Validates CA certificates: Node.js accepts any text, and fails at the first login. */
function readCertificates(reportIssue: ReportIssue, key: string, pem: string): string | undefined {
  const certificates = splitCertificates(pem)
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
    if (certificates.length > 0) return certificates.join('\n')
  } catch {
    // The error is reported below.
  }
  if (pem !== '') reportIssue(key, 'must be certificates in PEM')
  return undefined
}
