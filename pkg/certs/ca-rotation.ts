import { X509Certificate } from 'node:crypto'
import { createCa, issuedAtMs, type KeyPair } from './issue.ts'

/** The CA that signs, and its successor. Clients must trust all of `trusted`. */
export type CertificateAuthority = {
  readonly current: KeyPair
  readonly next: KeyPair | undefined
  /** Certificates as PEM, the current CA first. */
  readonly trusted: readonly string[]
}

export type Step = 'announce' | 'switch' | 'retire'

export type RotationState = {
  readonly nowMs: number
  /** How long a CA is published before it signs, and after its last signature, in milliseconds. */
  readonly overlapMs: number
  /** Whether an annotation requests a rotation. */
  readonly isRequested: boolean
  /** When the current CA issued the serving certificate; undefined if it did not. */
  readonly servingIssuedMs: number | undefined
}

const caDays = 3650
// The last fifth of the lifetime is two of ten years, enough time to replace a CA.
const replaceAfterFraction = 0.8

/**
 * Returns the next step of the CA rotation, or when to check again. A new CA is published with the
 * old CA, and signs when all clients have had time to fetch it. The old CA is removed when no
 * certificate of it is in use. All times come from certificates, so replicas agree without
 * coordination.
 */
export function planCaRotation(
  { current, next, trusted }: CertificateAuthority,
  { nowMs, overlapMs, isRequested, servingIssuedMs }: RotationState,
): { readonly step: Step } | { readonly step: undefined; readonly dueMs: number } {
  const wait = (dueMs: number) => (dueMs <= nowMs ? undefined : { step: undefined, dueMs })
  if (next !== undefined) return wait(issuedAtMs(next.certPem) + overlapMs) ?? { step: 'switch' }
  if (trusted.length > 1) {
    if (servingIssuedMs === undefined) return { step: undefined, dueMs: nowMs + overlapMs }
    return wait(servingIssuedMs + overlapMs) ?? { step: 'retire' }
  }
  const { validFromDate, validToDate } = new X509Certificate(current.certPem)
  const from = validFromDate.getTime()
  if (isRequested) return { step: 'announce' }
  return wait(from + (validToDate.getTime() - from) * replaceAfterFraction) ?? { step: 'announce' }
}

export function takeStep(
  step: Step,
  { current, next, trusted }: CertificateAuthority,
  now: Date,
): CertificateAuthority {
  if (step === 'announce') {
    const coming = createCa({ commonName: 'kapis', validityDays: caDays, now })
    return { current, next: coming, trusted: [current.certPem, coming.certPem] }
  }
  if (step === 'retire' || next === undefined) return { current, next, trusted: [current.certPem] }
  return {
    current: next,
    next: undefined,
    trusted: [next.certPem, ...trusted.filter(pem => pem !== next.certPem)],
  }
}

export function firstCa(now: Date): CertificateAuthority {
  const current = createCa({ commonName: 'kapis', validityDays: caDays, now })
  return { current, next: undefined, trusted: [current.certPem] }
}
