import type { RegexNode } from '../regex/syntax.ts'
import { foldCharacter } from '../words.ts'
import { besideWords, boundaryBeside } from './word-boundary.ts'

// Any characters, line breaks among them.
const anything = '(.|\n)*'
const maxFolded = 64
const separator = `[${besideWords.map(([low, high]) => toRange(low, high)).join('')}]`

/**
 * A regular expression in Lucene's syntax, which always stands for the whole text and has neither anchors nor boundaries.
 * Every character that is no ASCII letter or digit is escaped, but where a range begins, so none has a meaning of its own.
 *
 * @returns undefined when it has an assertion that cannot be said there: `\B`, `^` and `$` inside, and `\b` but at an end, beside
 * what surely belongs to a word
 */
export function toLuceneRegexp(root: RegexNode, caseSensitive: boolean): string | undefined {
  const options = root.kind === 'choice' ? root.options : [root]
  const whole = options.map(option => toWhole(option, caseSensitive))
  return whole.every(text => text !== undefined) ? whole.join('|') : undefined
}

/** Text as a piece of a regular expression that means itself. */
export function escapeLucene(text: string): string {
  return [...text].map(escapeCharacter).join('')
}

function toWhole(node: RegexNode, caseSensitive: boolean): string | undefined {
  const items = node.kind === 'sequence' ? [...node.items] : [node]
  const before = takeEdge(items, 'first')
  const after = takeEdge(items, 'last')
  if (before === undefined || after === undefined) return undefined
  const inner = items.map(item => toText(item, caseSensitive))
  return inner.every(text => text !== undefined) ? `${before}${inner.join('')}${after}` : undefined
}

/** Takes an assertion off an end of an expression. @returns what may stand outside of that end; undefined when it cannot be said */
function takeEdge(items: RegexNode[], side: 'first' | 'last'): string | undefined {
  const [at, beside] = side === 'first' ? [0, 1] : [items.length - 1, items.length - 2]
  const edge = items[at]
  if (edge?.kind !== 'assert') return anything
  const isAnchor = edge.at === (side === 'first' ? 'start' : 'end')
  const demand = edge.at === 'boundary' ? boundaryBeside(items[beside], side) : undefined
  if (!isAnchor && demand === undefined) return undefined
  items.splice(at, 1)
  if (demand === 'anything') return anything
  if (demand === 'separator')
    return side === 'first' ? `(${anything}${separator})?` : `(${separator}${anything})?`
  return side === 'first' ? '' : '\n?'
}

function toText(node: RegexNode, caseSensitive: boolean): string | undefined {
  switch (node.kind) {
    case 'assert':
      return undefined
    case 'set':
      return toSet(node, caseSensitive)
    case 'sequence':
      return joined(node.items, caseSensitive, '')
    case 'choice': {
      const inner = joined(node.options, caseSensitive, '|')
      return inner === undefined ? undefined : `(${inner})`
    }
    case 'repeat': {
      const inner = toText(node.item, caseSensitive)
      const max = node.max === Number.POSITIVE_INFINITY ? '' : String(node.max)
      return inner === undefined ? undefined : `(${inner}){${node.min},${max}}`
    }
  }
}

function joined(nodes: readonly RegexNode[], caseSensitive: boolean, separator: string): string | undefined {
  const inner = nodes.map(node => toText(node, caseSensitive))
  // Nothing at all is written as an empty group.
  return inner.every(text => text !== undefined) ? inner.map(text => text || '()').join(separator) : undefined
}

function toSet(
  { ranges, negated }: Extract<RegexNode, { readonly kind: 'set' }>,
  caseSensitive: boolean,
): string {
  const parts = ranges.map(([low, high]) => {
    const range = toRange(low, high)
    return caseSensitive ? range : range + otherCases(low, high)
  })
  return `[${negated ? '^' : ''}${parts.join('')}]`
}

/**
 * Engines from Lucene 9 on take a character with a backslash for one that begins no range, so the lower bound stands as it is;
 * those that would mean something there come before it, each by itself.
 */
function toRange(low: number, high: number): string {
  if (low === high) return escapePoint(low)
  const character = String.fromCodePoint(low)
  if ('-]^\\'.includes(character)) return escapePoint(low) + toRange(low + 1, high)
  return `${character}-${escapePoint(high)}`
}

/** The other cases of the characters of a range; of a wide one those of ASCII alone. */
function otherCases(low: number, high: number): string {
  const isWide = high - low > maxFolded
  const [from, to] = isWide ? [Math.max(low, 0x41), Math.min(high, 0x7a)] : [low, high]
  let others = ''
  for (let code = from; code <= to; code++) {
    const character = String.fromCodePoint(code)
    for (const other of [foldCharacter(character), character.toUpperCase()]) {
      if (other !== character && other.length === character.length) others += escapeLucene(other)
    }
  }
  return others
}

function escapePoint(code: number): string {
  return escapeCharacter(String.fromCodePoint(code))
}

function escapeCharacter(character: string): string {
  return /^[A-Za-z0-9\u{80}-\u{10ffff}]$/u.test(character) ? character : `\\${character}`
}
