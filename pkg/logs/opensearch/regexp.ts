import { type WildcardTest, wildcardNode } from '../filter/wildcard.ts'
import { foldCharacter } from '../filter/words.ts'
import type { Range, RegexNode } from '../regex/parse.ts'
import { wordSeparators } from './word-boundary.ts'

// Any characters, including line breaks.
const anything = '(.|\n)*'
const maxFolded = 64
// Larger character sets are treated as a mixture of word characters and others.
const maxCharacters = 256
const [wordCharacter, otherCharacter] = ['[0-9A-Za-z_]', '[^0-9A-Za-z_]']

/**
 * Translates a regular expression to the syntax of Lucene, which always matches the whole text and
 * has neither anchors nor boundaries. Escapes every character except ASCII letters and digits, and
 * except at the start of a range.
 *
 * @returns undefined for assertions that Lucene cannot express: `\B`, inner `^` and `$`, and `\b`
 * unless it is at an end, next to characters that are all or none word characters
 */
export function toLuceneRegexp(root: RegexNode, caseSensitive: boolean): string | undefined {
  const options = root.kind === 'choice' ? root.options : [root]
  const whole = options.map(option => toWhole(option, caseSensitive))
  return whole.every(text => text !== undefined) ? whole.join('|') : undefined
}

/** Translates a pattern with wildcards to the syntax of Lucene. */
export function wildcardToLucene(test: WildcardTest): string {
  const inner = toText(wildcardNode(test), false) ?? ''
  if (test.extent === 'value') return inner
  const separator = `[${wordSeparators.map(([low, high]) => toRange(low, high)).join('')}]`
  const before = test.start === 'word' ? `(${anything}${separator})?` : anything
  const after = test.end === 'word' ? `(${separator}${anything})?` : anything
  return `${before}${inner}${after}`
}

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

/**
 * Removes an assertion from an end of a sequence.
 *
 * @returns an expression for the text outside of that end; undefined if Lucene cannot express the
 * assertion
 */
function takeEdge(items: RegexNode[], side: 'first' | 'last'): string | undefined {
  const edge = items.at(side === 'first' ? 0 : -1)
  if (edge?.kind !== 'assert') return anything
  const isAnchor = edge.at === (side === 'first' ? 'start' : 'end')
  const neighbour = items.at(side === 'first' ? 1 : -2)
  const neighbourCharacter = edge.at === 'boundary' ? characterBeside(neighbour, side) : undefined
  if (!isAnchor && neighbourCharacter === undefined) return undefined
  items.splice(side === 'first' ? 0 : -1, 1)
  if (neighbourCharacter === undefined) return side === 'first' ? '' : '\n?'
  const outside = side === 'first' ? `${anything}${neighbourCharacter}` : `${neighbourCharacter}${anything}`
  // An end of the text is a boundary too if the neighbour in the expression is a word character.
  // Then nothing is required outside.
  return neighbourCharacter === wordCharacter ? outside : `(${outside})?`
}

/** Returns the class that forms a boundary with a node; undefined if it varies. */
function characterBeside(node: RegexNode | undefined, side: 'first' | 'last'): string | undefined {
  if (node?.kind === 'sequence') return characterBeside(node.items.at(side === 'first' ? 0 : -1), side)
  if (node?.kind === 'repeat') return node.min > 0 ? characterBeside(node.item, side) : undefined
  if (node?.kind !== 'set' || node.negated) return undefined
  const count = node.ranges.reduce((sum, [low, high]) => sum + high - low + 1, 0)
  if (count === 0 || count > maxCharacters) return undefined
  const areOfWords = new Set(node.ranges.flatMap(charactersOf).map(code => isOfWord(code)))
  if (areOfWords.size > 1) return undefined
  return areOfWords.has(true) ? otherCharacter : wordCharacter
}

function charactersOf([low, high]: Range): readonly number[] {
  return Array.from({ length: high - low + 1 }, (_, i) => low + i)
}

function isOfWord(code: number): boolean {
  return /^\w$/.test(String.fromCodePoint(code))
}

function toText(node: RegexNode, caseSensitive: boolean): string | undefined {
  switch (node.kind) {
    case 'assert':
      return undefined
    case 'set':
      return toSet(node, caseSensitive)
    case 'sequence':
      return joinNodes(node.items, caseSensitive, '')
    case 'choice': {
      const inner = joinNodes(node.options, caseSensitive, '|')
      return inner === undefined ? undefined : `(${inner})`
    }
    case 'repeat': {
      const inner = toText(node.item, caseSensitive)
      const max = node.max === Number.POSITIVE_INFINITY ? '' : String(node.max)
      return inner === undefined ? undefined : `(${inner}){${node.min},${max}}`
    }
  }
}

function joinNodes(
  nodes: readonly RegexNode[],
  caseSensitive: boolean,
  separator: string,
): string | undefined {
  const inner = nodes.map(node => toText(node, caseSensitive))
  // Lucene requires a group for an empty expression.
  return inner.every(text => text !== undefined) ? inner.map(text => text || '()').join(separator) : undefined
}

function toSet(
  { ranges, negated }: Extract<RegexNode, { readonly kind: 'set' }>,
  caseSensitive: boolean,
): string {
  // Any character, including line breaks.
  if (negated && ranges.length === 0) return '(.|\n)'
  const parts = ranges.map(([low, high]) => {
    const range = toRange(low, high)
    return caseSensitive ? range : range + otherCases(low, high)
  })
  return `[${negated ? '^' : ''}${parts.join('')}]`
}

/**
 * Writes a range. Since Lucene 9 an escaped character cannot start a range, so the lower bound is
 * not escaped. Characters that need escaping are instead written before the range.
 */
function toRange(low: number, high: number): string {
  if (low === high) return escapePoint(low)
  const character = String.fromCodePoint(low)
  if ('-]^\\'.includes(character)) return escapePoint(low) + toRange(low + 1, high)
  return `${character}-${escapePoint(high)}`
}

/** Returns the characters of a range in the other case; of wide ones, ASCII letters. */
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
