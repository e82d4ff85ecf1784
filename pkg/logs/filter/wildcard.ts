import { literalNodes, type Range, type RegexNode, whiteSpace } from '../regex/parse.ts'
import type { Test } from './expression.ts'

export type WildcardTest = Extract<Test, { readonly kind: 'wildcard' }>

// A character next to a word: no letter, digit or mark, or a Han or Hiragana character (a word by
// itself, see wordsOf).
const besideWord = String.raw`[^\pL\pN\pM]|[\p{Han}\p{Hiragana}]`

// Characters that a `?` at the start or end of a word does not match: ASCII and Latin-1 punctuation
// and spaces.
const punctuation: readonly Range[] = [
  [0x00, 0x2f],
  [0x3a, 0x40],
  [0x5b, 0x60],
  [0x7b, 0xa9],
]
const inWord = String.raw`[^\x{00}-\x{2f}\x{3a}-\x{40}\x{5b}-\x{60}\x{7b}-\x{a9}]`

/** Reports whether the piece at an index is one of the `?` at the start or end of a word. */
function isInWord({ pieces, extent, start, end }: WildcardTest, at: number): boolean {
  if (extent === 'value' || pieces[at] !== '?') return false
  const begins = start === 'word' && pieces.slice(0, at).every(piece => piece === '?')
  return begins || (end === 'word' && pieces.slice(at).every(piece => piece === '?'))
}

/** Returns an equivalent regular expression in RE2 syntax. */
export function wildcardSource(test: WildcardTest): string {
  const { pieces, extent, start, end } = test
  const any = extent === 'value' ? '(?s:.)' : String.raw`\S`
  const inner = pieces.map((piece, i) => {
    if (piece === '*') return `${any}*`
    if (isInWord(test, i)) return inWord
    return piece === '?' ? any : piece.text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  })
  return [
    extent === 'value' ? String.raw`\A` : start === 'word' ? `(?:\\A|${besideWord})` : '',
    ...inner,
    extent === 'value' ? String.raw`\z` : end === 'word' ? `(?:\\z|${besideWord})` : '',
  ].join('')
}

/** Returns an equivalent syntax tree, without anchors. */
export function wildcardNode(test: WildcardTest): RegexNode {
  const { pieces, extent } = test
  const any: RegexNode = { kind: 'set', ranges: extent === 'value' ? [] : whiteSpace, negated: true }
  const items = pieces.flatMap((piece, i): readonly RegexNode[] => {
    if (isInWord(test, i)) return [{ kind: 'set', ranges: punctuation, negated: true }]
    if (piece === '?') return [any]
    if (piece === '*') return [{ kind: 'repeat', item: any, min: 0, max: Number.POSITIVE_INFINITY }]
    return literalNodes(piece.text)
  })
  return { kind: 'sequence', items }
}
