import { X509Certificate } from 'node:crypto'
import { createAuthority, issuedAtMs, type KeyPair } from './issue.ts'

/** The authority in use, and while it is replaced the one that comes; `trusted` is what clients are to know. */
export type Authority = {
  readonly current: KeyPair
  readonly next: KeyPair | undefined
  /** Certificates as PEM, the current one first. */
  readonly trusted: readonly string[]
}

export type Step = 'announce' | 'switch' | 'retire'

export type Circumstances = {
  readonly nowMs: number
  /** How long an authority is known before it signs, and after it has signed last. */
  readonly overlapMs: number
  /** Someone asks for a new one. */
  readonly isWanted: boolean
  /** When the serving certificate was made that is in use; undefined when it was issued by another CA, or there is none. */
  readonly servingIssuedMs: number | undefined
}

const authorityDays = 3650
// The last fifth of its life: two years of ten, so that nobody who trusts it is in a hurry.
const replaceAfterFraction = 0.8

/**
 * What is to be done with the authority now, and when to look again if nothing is. A new one is announced next to the old,
 * signs once everybody has had time to learn of it, and the old one is forgotten once nothing it signed is shown any more.
 * Every time comes from the certificates themselves, so that replicas agree without a word.
 */
export function planRollover(
  { current, next, trusted }: Authority,
  { nowMs, overlapMs, isWanted, servingIssuedMs }: Circumstances,
): { readonly step: Step } | { readonly step: undefined; readonly dueMs: number } {
  const wait = (dueMs: number) => (dueMs <= nowMs ? undefined : { step: undefined, dueMs })
  if (next !== undefined) return wait(issuedAtMs(next.certPem) + overlapMs) ?? { step: 'switch' }
  if (trusted.length > 1) {
    if (servingIssuedMs === undefined) return { step: undefined, dueMs: nowMs + overlapMs }
    return wait(servingIssuedMs + overlapMs) ?? { step: 'retire' }
  }
  const { validFromDate, validToDate } = new X509Certificate(current.certPem)
  const from = validFromDate.getTime()
  if (isWanted) return { step: 'announce' }
  return wait(from + (validToDate.getTime() - from) * replaceAfterFraction) ?? { step: 'announce' }
}

export function takeStep(step: Step, { current, next, trusted }: Authority, now: Date): Authority {
  if (step === 'announce') {
    const coming = createAuthority({ commonName: 'kapis', validityDays: authorityDays, now })
    return { current, next: coming, trusted: [current.certPem, coming.certPem] }
  }
  if (step === 'retire' || next === undefined) return { current, next, trusted: [current.certPem] }
  return {
    current: next,
    next: undefined,
    trusted: [next.certPem, ...trusted.filter(pem => pem !== next.certPem)],
  }
}

/** The first authority of an installation. */
export function firstAuthority(now: Date): Authority {
  const current = createAuthority({ commonName: 'kapis', validityDays: authorityDays, now })
  return { current, next: undefined, trusted: [current.certPem] }
}
