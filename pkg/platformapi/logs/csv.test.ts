import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { toCsvRow } from './csv.ts'

function parseRow(row: string): readonly string[] {
  const cells: string[] = []
  for (let rest = `,${row.slice(0, -2)}`; rest !== ''; ) {
    const [whole = rest, quoted, plain = ''] = /^,(?:"((?:[^"]|"")*)"|([^",\r\n]*))/.exec(rest) ?? []
    cells.push(quoted?.replaceAll('""', '"') ?? plain)
    rest = rest.slice(whole.length)
  }
  return cells
}

const [formula, inner] = documented()
/** Restores a cell as docs/logs.md describes it for programs. */
const restored = (cell: string) =>
  (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell).replaceAll(inner, '$1')

/** Returns the regular expressions in docs/logs.md. */
function documented(): readonly [RegExp, RegExp] {
  const document = readFileSync(new URL('../../../docs/logs.md', import.meta.url), 'utf8')
  const [whole = '', within = ''] = [...document.matchAll(/`([^`]*\\p\{Cf\}[^`]*)`/g)].map(found => found[1])
  return [new RegExp(whole, 'u'), new RegExp(within, 'gu')]
}

describe('toCsvRow', () => {
  const table: readonly [string, string][] = [
    ['plain', 'plain'],
    ['', ''],
    ['a=b', 'a=b'],
    ['2024-05-06T07:08:09Z', '2024-05-06T07:08:09Z'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ["it's", "it's"],
    ["'quoted'", "'quoted'"],
    ['=1+1', '"\'=1+1"'],
    ['+1', '"\'+1"'],
    ['-5', '"\'-5"'],
    ['@SUM(A1)', '"\'@SUM(A1)"'],
    ['\t=1', '"\'\t\'=1"'],
    ['\ttext', '"\'\ttext"'],
    ['\rtext', '"\'\rtext"'],
    ['\ntext', '"\'\ntext"'],
    ['\n=1', '"\'\n=1"'],
    [' =1', '"\' =1"'],
    ['"=1', '"\'""=1"'],
    ["'=1", '"\'\'=1"'],
    ["'\n", '"\'\'\n"'],
    ['＝1', '"\'＝1"'],
    ['＋1', '"\'＋1"'],
    ['－1', '"\'－1"'],
    ['＠x', '"\'＠x"'],
    ['\u00a0=1', '"\'\u00a0=1"'],
    ['\u200b\ufeff=1', '"\'\u200b\ufeff=1"'],
    ['\0=1', '"\'\0=1"'],
    ['\u0085+1', '"\'\u0085+1"'],
    ['﹦1', '"\'﹦1"'],
    ['﹣1', '"\'﹣1"'],
    ["a;=1+cmd|' /C calc'!A0", "a;'=1+cmd|' /C calc'!A0"],
    ['a\t=1', "a\t'=1"],
    ['a; "@x', '"a; ""\'@x"'],
    ["a;'=1", "a;''=1"],
    ['a;b=1;-', "a;b=1;'-"],
    ['=HYPERLINK("http://a.b","x")', '"\'=HYPERLINK(""http://a.b"",""x"")"'],
  ]
  for (const [value, cell] of table) {
    it(`writes ${JSON.stringify(value)}`, () => {
      expect(toCsvRow([value])).to.equal(`${cell}\r\n`)
      expect(toCsvRow(['a', value, 'b'])).to.equal(`a,${cell},b\r\n`)
    })
  }

  it('writes many tabs in linear time', () => {
    const since = performance.now()
    for (const text of ['\t', ';\t', ";' ", "\t'"]) toCsvRow([text.repeat(200_000)])
    expect(performance.now() - since).to.be.below(2_000)
  })

  it('writes text that a regular expression parses back in linear time', () => {
    const since = performance.now()
    for (const text of ['\t', ';\t', ";' ", "\t'", "'", "'\t="]) {
      const value = text.repeat(200_000)
      expect(parseRow(toCsvRow([value])).map(restored)).to.deep.equal([value])
    }
    expect(performance.now() - since).to.be.below(2_000)
  })

  it('preserves all values, and has no cell that a spreadsheet treats as a formula', () => {
    const pieces = fc.constantFrom(
      '=',
      '+',
      '-',
      '@',
      '＝',
      '＠',
      "'",
      '"',
      ',',
      ';',
      ' ',
      '\t',
      '\r',
      '\n',
      'a',
      '1',
      '\ufeff',
    )
    const cells = fc.array(pieces, { maxLength: 8 }).map(all => all.join(''))
    fc.assert(
      fc.property(fc.array(cells, { minLength: 1, maxLength: 5 }), values => {
        const read = parseRow(toCsvRow(values))
        expect(read.map(restored)).to.deep.equal(values)
        for (const cell of read) {
          expect(cell).to.not.match(/^[\s"\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r\n]/u)
          for (const part of cell.split(/[;\t]/)) expect(part).to.not.match(/^[\s"]*[=+\-@＝＋－＠]/u)
        }
      }),
      { numRuns: 2_000, seed: 5 },
    )
  })
})
