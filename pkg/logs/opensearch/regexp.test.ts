import { expect } from 'chai'
import { parseRegex } from '../regex/parse.ts'
import { escapeLucene, toLuceneRegexp, wildcardToLucene } from './regexp.ts'

const any = '(.|\n)*'

const expressible: readonly [source: string, lucene: string][] = [
  ['ab', `${any}[a][b]${any}`],
  ['^ab$', '[a][b]\n?'],
  ['a|^b', `${any}[a]${any}|[b]${any}`],
  ['(?:a|)c', `${any}([a]|())[c]${any}`],
  ['a{2,}b?', `${any}([a]){2,}([b]){0,1}${any}`],
  ['[^\\n"]', `${any}[^\\\n\\"]${any}`],
  ['a.b&c@d#e~<1-2>', `${any}[a][^\\\n][b][\\&][c][\\@][d][\\#][e][\\~][\\<][1][\\-][2][\\>]${any}`],
  ['\\d', `${any}[0-9]${any}`],
  ['', `${any}${any}`],
  ['[!-~]', `${any}[!-\\~]${any}`],
  ['[^ -\\]]', `${any}[^ -\\]]${any}`],
  ['[--a]', `${any}[\\-.-a]${any}`],
  ['[\\]-b]', `${any}[\\]\\^_-b]${any}`],
  ['[\\\\-]', `${any}[\\\\\\-]${any}`],
  ['[\\\\-b]', `${any}[\\\\\\]\\^_-b]${any}`],
  ['[^^-a]', `${any}[^\\^_-a]${any}`],
  ['\\bab', `(${any}[^0-9A-Za-z_])?[a][b]${any}`],
  ['a\\b', `${any}[a]([^0-9A-Za-z_]${any})?`],
  ['\\b-', `${any}[0-9A-Za-z_][\\-]${any}`],
  ['\\b连', `${any}[0-9A-Za-z_][连]${any}`],
  ['[a-c]+\\b', `${any}([a-c]){1,}([^0-9A-Za-z_]${any})?`],
]

/** Parses and translates an expression. @throws Error if it cannot be parsed */
function translate(source: string, caseSensitive = true): string | undefined {
  const node = parseRegex(source)
  if (node === undefined) throw new Error(`cannot parse ${source}`)
  return toLuceneRegexp(node, caseSensitive)
}

describe('toLuceneRegexp', () => {
  for (const [source, lucene] of expressible) {
    it(`translates ${source || 'an empty expression'}`, () => expect(translate(source)).to.equal(lucene))
  }

  it('writes both cases of a letter', () => {
    expect(translate('aÉ1', false)).to.equal(`${any}[aA][Éé][1]${any}`)
    expect(translate('[a-c]', false)).to.equal(`${any}[a-cABC]${any}`)
  })

  for (const source of ['\\b[a-]', '\\b', '\\b\\w*', 'a\\bb', 'x\\B', 'a^b', '(a$)b', '(^a|b)', '\\b\\b']) {
    it(`cannot translate ${source}`, () => expect(translate(source)).to.equal(undefined))
  }
})

describe('wildcardToLucene', () => {
  const pieces = [{ text: 'a.' }, '*', { text: 'É' }, '?'] as const

  it('matches at any position of a value', () => {
    const lucene = wildcardToLucene({ kind: 'wildcard', pieces, extent: 'part', start: 'open', end: 'open' })
    expect(lucene.startsWith(`${any}[aA][\\.](`) && lucene.endsWith(any)).to.equal(true)
  })

  it('matches at word boundaries', () => {
    const lucene = wildcardToLucene({ kind: 'wildcard', pieces, extent: 'part', start: 'word', end: 'word' })
    expect(lucene).to.match(/^\(\(\.\|\n\)\*\[.+\]\)\?\[aA\].+\(\[.+\]\(\.\|\n\)\*\)\?$/s)
    // Search engines limit expressions to a thousand characters; this leaves room for the text.
    expect(lucene.length).to.be.below(600)
  })

  it('matches a whole value', () => {
    const test = {
      kind: 'wildcard',
      pieces: [{ text: 'web-' }, '*'],
      extent: 'value',
      start: 'open',
      end: 'open',
    } as const
    expect(wildcardToLucene(test)).to.equal('[wW][eE][bB][\\-]((.|\n)){0,}')
  })
})

describe('escapeLucene', () => {
  it('escapes every character except letters and digits', () => {
    expect(escapeLucene('a.*b"é\n|日')).to.equal('a\\.\\*b\\"é\\\n\\|日')
  })
})
