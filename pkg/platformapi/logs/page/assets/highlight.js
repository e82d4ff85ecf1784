// Highlights the words of a query in lines.
import { element } from './elements.js'

const mostCharacters = 10_000
const terms = /(NOT\s+|-)?(?:([\w.]+)[:<>])?(?:"((?:[^"\\]|\\.)*)"|\/(?:[^/\\]|\\.)*\/c?|([^\s()"]+))/g

/** Returns a pattern of the words and phrases of a query, or undefined if it has none. */
export function toHighlights(query) {
  const patterns = []
  for (const [, not, field, phrase, word] of query.matchAll(terms)) {
    const text = phrase?.replace(/\\(.)/g, '$1') ?? word ?? ''
    if (not || (field && field !== 'log' && field !== 'case') || /^(?:AND|OR|NOT)$/.test(word)) continue
    // Only what is before the next wildcard: several wildcards would take a browser minutes.
    const [, open, literal] = /^([*?]*)([^*?]*)/.exec(text)
    const words = literal.match(/[\p{L}\p{N}]+/gu) ?? []
    if (words.length === 0) continue
    const start = open ? '' : '(?<![\\p{L}\\p{N}])'
    patterns.push(start + words.join('[^\\p{L}\\p{N}]{1,20}?') + (text.includes('*') ? '[\\p{L}\\p{N}]*' : ''))
  }
  return patterns.length > 0 ? new RegExp(patterns.join('|'), 'giu') : undefined
}

/** Appends text to an element, with what the pattern matches in `<mark>`. */
export function appendHighlighted(target, text, pattern) {
  let at = 0
  for (const { index, 0: match } of pattern ? text.slice(0, mostCharacters).matchAll(pattern) : []) {
    if (match === '') continue
    target.append(text.slice(at, index), element('mark', '', match))
    at = index + match.length
  }
  target.append(text.slice(at))
}
