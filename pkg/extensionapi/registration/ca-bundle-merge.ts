import { X509Certificate } from 'node:crypto'
import { splitCertificates } from '../../certs/pem.ts'

export type MergedBundle = {
  readonly pem: string
  /** Time until a CA of another replica can be removed; undefined if there is none. */
  readonly lookAgainMs: number | undefined
}

/**
 * Merges the CA of Kapis into caBundle. A tool such as cert-manager may replace CA and serving
 * certificate in one step. Replicas read the new files minutes apart, and each would remove the CA
 * of the others. Unknown CAs in caBundle are therefore kept for a while.
 *
 * @param keepMs time for which an unknown CA is kept; 0 to remove it immediately
 */
export function createCaBundleMerge(keepMs: number, now: () => number = () => performance.now()) {
  let since: ReadonlyMap<string, number> = new Map()

  return function merge(own: string, existing: string): MergedBundle {
    const ownCas = new Set(splitCertificates(own))
    const found = splitCertificates(existing)
    const nowMs = now()
    const others = found.filter(pem => !ownCas.has(pem) && isValid(pem))
    since = new Map(others.map(pem => [pem, since.get(pem) ?? nowMs]))
    const kept = others.filter(pem => nowMs - (since.get(pem) ?? nowMs) < keepMs)
    if (kept.length === 0) return { pem: own, lookAgainMs: undefined }
    const desired = [...ownCas, ...kept]
    // The existing order is kept: otherwise replicas would reorder the CAs endlessly.
    const isThere = desired.length === found.length && desired.every(pem => found.includes(pem))
    const firstMs = Math.min(...kept.map(pem => since.get(pem) ?? nowMs))
    return {
      pem: isThere ? existing : `${[own.trimEnd(), ...kept].join('\n')}\n`,
      lookAgainMs: firstMs + keepMs - nowMs,
    }
  }
}

function isValid(pem: string): boolean {
  try {
    return new X509Certificate(pem).validToDate.getTime() > Date.now()
  } catch {
    return false
  }
}
