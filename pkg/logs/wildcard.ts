import type { Test } from './expression.ts'
import type { RegexNode } from './regex/parse.ts'

export type WildcardTest = Extract<Test, { readonly kind: 'wildcard' }>

// Letters, digits and marks; Han and Hiragana characters are words by themselves (see wordsOf).
const besideWord = String.raw`[^\pL\pN\pM]|[\p{Han}\p{Hiragana}]`

/** The regular expression that a test stands for. */
export function wildcardSource({ pieces, extent, start, end }: WildcardTest): string {
  const any = extent === 'value' ? '(?s:.)' : String.raw`\S`
  const inner = pieces.map(piece => {
    if (piece === '*') return `${any}*`
    return piece === '?' ? any : piece.text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  })
  return [
    extent === 'value' ? String.raw`\A` : start === 'word' ? `(?:\\A|${besideWord})` : '',
    ...inner,
    extent === 'value' ? String.raw`\z` : end === 'word' ? `(?:\\z|${besideWord})` : '',
  ].join('')
}

/** The same without its ends. */
export function wildcardNode({ pieces, extent }: WildcardTest): RegexNode {
  const any: RegexNode =
    extent === 'value'
      ? { kind: 'set', ranges: [], negated: true }
      : // What \S of RE2 is not.
        {
          kind: 'set',
          ranges: [
            [9, 10],
            [12, 13],
            [32, 32],
          ],
          negated: true,
        }
  const items = pieces.flatMap((piece): readonly RegexNode[] => {
    if (piece === '?') return [any]
    if (piece === '*') return [{ kind: 'repeat', item: any, min: 0, max: Number.POSITIVE_INFINITY }]
    return [...piece.text].map(character => {
      const code = character.codePointAt(0) ?? 0
      return { kind: 'set', ranges: [[code, code]], negated: false }
    })
  })
  return { kind: 'sequence', items }
}
