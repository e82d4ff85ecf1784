import type { RegexNode } from '../regex/syntax.ts'
import { foldCharacter } from '../words.ts'

// Any characters, line breaks among them.
const anything = '(.|\n)*'
const maxFolded = 64

/**
 * A regular expression in Lucene's syntax, which always stands for the whole text and has neither anchors nor boundaries.
 * Every character that is no ASCII letter or digit is escaped, so none has a meaning of its own.
 *
 * @returns undefined when it has an assertion that cannot be said there: `\b`, `\B`, or `^` and `$` inside
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
  const isAnchored = (item: RegexNode | undefined, at: 'start' | 'end') =>
    item?.kind === 'assert' && item.at === at
  const fromStart = isAnchored(items[0], 'start')
  if (fromStart) items.shift()
  const toEnd = isAnchored(items.at(-1), 'end')
  if (toEnd) items.pop()
  const inner = items.map(item => toText(item, caseSensitive))
  if (!inner.every(text => text !== undefined)) return undefined
  return `${fromStart ? '' : anything}${inner.join('')}${toEnd ? '\n?' : anything}`
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
    const range = low === high ? escapePoint(low) : `${escapePoint(low)}-${escapePoint(high)}`
    return caseSensitive ? range : range + otherCases(low, high)
  })
  return `[${negated ? '^' : ''}${parts.join('')}]`
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
