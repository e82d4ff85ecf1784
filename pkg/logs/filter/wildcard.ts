import { parseRegex, type RegexNode } from '../regex/parse.ts'
import type { Test } from './expression.ts'

export type WildcardTest = Extract<Test, { readonly kind: 'wildcard' }>

// A character next to a word: no letter, digit or mark, or a Han or Hiragana character (a word by
// itself, see wordsOf).
const besideWord = String.raw`[^\pL\pN\pM]|[\p{Han}\p{Hiragana}]`

// What a `?` at the start or end of a word matches: neither punctuation nor spaces of ASCII and Latin-1.
const inWord = String.raw`[^\u{0}-\u{2f}\u{3a}-\u{40}\u{5b}-\u{60}\u{7b}-\u{a9}]`

/** Reports whether the piece at an index is one of the `?` at the start or end of a word. */
function isInWord({ pieces, extent, start, end }: WildcardTest, at: number): boolean {
  if (extent === 'value' || pieces[at] !== '?') return false
  const begins = start === 'word' && pieces.slice(0, at).every(piece => piece === '?')
  return begins || (end === 'word' && pieces.slice(at).every(piece => piece === '?'))
}

/** Returns the expression between the ends. @param any matches any character */
function innerSource(test: WildcardTest, any: string): string {
  const inner = test.pieces.map((piece, i) => {
    if (piece === '*') return `${any}*`
    if (isInWord(test, i)) return inWord
    return piece === '?' ? any : piece.text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  })
  return inner.join('')
}

/** Returns an equivalent regular expression in RE2 syntax. */
export function wildcardSource(test: WildcardTest): string {
  const { extent, start, end } = test
  if (extent === 'value') return `\\A${innerSource(test, '(?s:.)')}\\z`
  const before = start === 'word' ? `(?:\\A|${besideWord})` : ''
  const after = end === 'word' ? `(?:\\z|${besideWord})` : ''
  return `${before}${innerSource(test, '\\S')}${after}`
}

/** Returns an equivalent syntax tree, without anchors. */
export function wildcardNode(test: WildcardTest): RegexNode {
  const node = parseRegex(innerSource(test, test.extent === 'value' ? '[^]' : '\\S'))
  if (node === undefined) throw new Error('failed to parse the expression of a pattern')
  return node
}
