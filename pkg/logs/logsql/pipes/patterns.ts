import { LRUCache } from 'lru-cache'
import { copyText } from '../copy-text.ts'

/** A form of log lines, with `<*>` for the parts that differ, and the number of its lines. */
export type PatternCount = { readonly pattern: string; readonly count: number }

type Shape = { readonly words: string[]; readonly separators: readonly string[]; count: number }

const wildcard = '<*>'
const separator = /([\s"'=,;:/()[\]{}|]+)/
// Limits memory to about 16 MiB.
const [maxChars, maxWords, maxLeaves, maxShapes] = [1_000, 48, 256, 16]
const digit = /\d/
const leastSimilarity = 0.5

/**
 * Finds the forms of log lines in one pass and in bounded memory with the algorithm Drain ("Drain:
 * An Online Log Parsing Approach with Fixed Depth Tree", ICWS 2017). A line is compared with the
 * known forms that have the same number of words and begin with the same literal words, and joins
 * the most similar form. Words with digits are variable from the start.
 */
export function createPatterns(): {
  readonly add: (text: string) => void
  /** Returns the forms, most frequent first; lines beyond the memory limit are `<*>`. */
  readonly result: () => readonly PatternCount[]
} {
  let others = 0
  const leaves = new LRUCache<string, Shape[]>({
    max: maxLeaves,
    dispose: shapes => {
      for (const { count } of shapes) others += count
    },
  })

  return {
    add(text) {
      const { words, separators, key } = split(text)
      const shapes = leaves.get(key) ?? []
      if (shapes.length === 0) leaves.set(copyText(key), shapes)
      const similar = findSimilar(shapes, words)
      if (similar !== undefined) join(similar, words)
      else if (shapes.length < maxShapes) shapes.push(keep({ words, separators, count: 1 }))
      else others += 1
    },
    result() {
      const counts = new Map<string, number>()
      const count = (pattern: string, lines: number) =>
        counts.set(pattern, (counts.get(pattern) ?? 0) + lines)
      for (const shapes of leaves.values()) for (const shape of shapes) count(format(shape), shape.count)
      if (others > 0) count(wildcard, others)
      return [...counts]
        .map(([pattern, lines]) => ({ pattern, count: lines }))
        .sort((a, b) => b.count - a.count || (a.pattern < b.pattern ? -1 : 1))
    },
  }
}

/**
 * Splits a line into words and separators. `key` selects the forms to compare: the first two
 * literal words and the number of words.
 */
function split(text: string): { words: string[]; separators: string[]; key: string } {
  const parts = text
    .slice(0, maxChars)
    .trim()
    .split(separator, 2 * maxWords)
  const words: string[] = []
  const separators: string[] = []
  let key = ''
  let literals = 0
  for (const [i, part] of parts.entries()) {
    if (i % 2 === 1) separators.push(part)
    else if (digit.test(part)) words.push(wildcard)
    else {
      words.push(part)
      if (part === '' || part === wildcard || literals === 2) continue
      literals += 1
      key += `${part} `
    }
  }
  return { words, separators, key: `${key}${words.length}` }
}

/** Copies the words, so that they do not retain the line in memory. */
function keep({ words, separators, count }: Shape): Shape {
  return { words: words.map(copyText), separators: separators.map(copyText), count }
}

function findSimilar(shapes: readonly Shape[], words: readonly string[]): Shape | undefined {
  let best: Shape | undefined
  let most = leastSimilarity * words.length
  for (const shape of shapes) {
    let equal = 0
    for (const [i, word] of words.entries()) if (word === shape.words[i]) equal += 1
    if (equal < most || (best !== undefined && equal === most)) continue
    best = shape
    most = equal
  }
  return best
}

function join(shape: Shape, words: readonly string[]): void {
  shape.count += 1
  for (const [i, word] of words.entries()) if (word !== shape.words[i]) shape.words[i] = wildcard
}

function format({ words, separators }: Shape): string {
  const text = words.map((word, i) => word + (separators[i] ?? '')).join('')
  return text.replace(/<\*>(?:[:/,]<\*>)+/g, wildcard)
}
