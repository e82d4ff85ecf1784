import { expect } from 'chai'
import { parseRegex } from '../regex/syntax.ts'
import { escapeLucene, toLuceneRegexp } from './regexp.ts'

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
  ['\\b连', `${any}[连]${any}`],
]

describe('toLuceneRegexp', () => {
  for (const [source, lucene] of expressible) {
    it(`says ${source || 'nothing'}`, () => expect(toLuceneRegexp(parseRegex(source), true)).to.equal(lucene))
  }

  it('spells both cases out', () => {
    expect(toLuceneRegexp(parseRegex('^aÉ1$'), false)).to.equal('[aA][Éé][1]\n?')
    expect(toLuceneRegexp(parseRegex('^[a-c]$'), false)).to.equal('[a-cABC]\n?')
  })

  it('says where a word begins and ends', () => {
    const said = toLuceneRegexp(parseRegex('\\bab\\b|c'), true) ?? ''
    const [whole, other] = said.split(/\|(?=\(\.\|\n\)\*\[c\])/)
    expect(whole).to.match(/^\(\(\.\|\n\)\*\[.+\]\)\?\[a\]\[b\]\(\[.+\]\(\.\|\n\)\*\)\?$/s)
    expect(other).to.equal(`${any}[c]${any}`)
    // An engine takes a thousand characters.
    expect(said.length).to.be.below(500)
  })

  for (const source of ['\\b\\w', '\\b', 'a\\bb', 'x\\B', 'a^b', '(a$)b', '(^a|b)', '\\b\\b']) {
    it(`cannot say ${source}`, () => expect(toLuceneRegexp(parseRegex(source), true)).to.equal(undefined))
  }
})

describe('escapeLucene', () => {
  it('takes the meaning of everything but letters and digits', () => {
    expect(escapeLucene('a.*b"é\n|日')).to.equal('a\\.\\*b\\"é\\\n\\|日')
  })
})
