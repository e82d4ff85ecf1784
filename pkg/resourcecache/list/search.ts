import { badRequest } from '../../apierrors/status.ts'
import type { CachedObject } from '../store/cached-object.ts'

// The search ignores this annotation: it contains the whole object, so any word would match.
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
const maxTerms = 16

/**
 * Parses `q=`: words that must all occur in name, labels or annotations, ignoring case, also within
 * words. Quotes delimit a phrase, and a word after `-` must not occur.
 *
 * @throws Status 400
 */
export function parseSearch(text: string): (entry: CachedObject) => boolean {
  const terms = [...text.matchAll(/(-?)(?:"([^"]*)"|(\S+))/g)].map(([, minus, quoted, word]) => ({
    isIncluded: minus !== '-',
    text: (quoted ?? word ?? '').toLowerCase(),
  }))
  if ((text.match(/"/g) ?? []).length % 2 !== 0)
    throw badRequest(`q ${JSON.stringify(text)} has an unterminated quote`)
  if (terms.length > maxTerms)
    throw badRequest(`q has ${terms.length} words; at most ${maxTerms} are allowed`)
  return entry => {
    const searched = toText(entry)
    return terms.every(term => term.text === '' || searched.includes(term.text) === term.isIncluded)
  }
}

function toText(entry: CachedObject): string {
  const parts = [entry.name]
  for (const map of [entry.meta.labels ?? {}, entry.annotations]) {
    for (const [key, value] of Object.entries(map)) if (key !== lastApplied) parts.push(`${key}=${value}`)
  }
  return parts.join('\n').toLowerCase()
}
