import { expect } from 'chai'
import type { Test } from '../expression.ts'
import { createTest } from '../matcher.ts'
import { hasBit } from './bitmap.ts'
import { scanTexts, type TextColumn } from './text-scan.ts'

const filler = Array.from({ length: 700 }, (_, i) => `filler ${i} ${'=-'.repeat(i % 90)}`)
const lines = [
  ...['', 'error', 'an Error: x', 'errors', 'xerror', 'terror error', 'err', 'or', 'ERROR', 'error_code', ''],
  ...[
    'größe error',
    'erroré',
    'éerror',
    'é error é',
    'error\u0301',
    '錯誤error',
    'error錯誤',
    '錯error誤 error',
  ],
  ...[
    'token',
    'to\u212aen',
    'TO\u212aEN x',
    '\u212a',
    'to\u212ben',
    'İerror',
    'connection refused',
    'refused connection',
  ],
  ...[
    'Connection: REFUSED',
    'connection\nrefused',
    'con',
    'nection refused',
    'connection connection =- refused now',
    'an é connection é refused',
    'connection, refuse',
    'connection e\u0301 refused',
    'xconnection refused',
    'connection tok',
    'connection to\u212aen',
    'É',
    'é',
    'ÃÉ',
    'a=>b',
    '=>',
    'x'.repeat(70_000),
  ],
  ...filler,
  ...['error', 'to\u212aen', 'the very last error'],
]

const words = (text: string, prefix = false): Test => ({ kind: 'words', words: text.split(' '), prefix })
const contains = (text: string, caseSensitive = false): Test => ({ kind: 'contains', text, caseSensitive })

const tests: readonly Test[] = [
  ...[
    'error',
    'ERROR',
    'token',
    'k',
    'absent',
    'connection refused',
    'connection refused now',
    'connection token',
    'filler 7',
    'größe error',
  ].map(text => words(text)),
  ...['err', 'tok', 'connection ref', 'filler 69', 'to', 'refused c'].map(text => words(text, true)),
  ...['rror', 'Ken', 'ok', '=>', 'connection ref', 'x', ' ', 'absent', 'n refused'].map(text =>
    contains(text),
  ),
  ...['rror', 'Error', '=>', 'É', '錯', '\u212a', 'absent', 'error\u0301'].map(text => contains(text, true)),
]
const notTold: readonly Test[] = [
  words('錯'),
  words('a-b'),
  contains('é'),
  contains(''),
  contains('\ud800', true),
  { kind: 'in', values: ['error'] },
]

function columnOf(texts: readonly string[]): TextColumn {
  const parts = texts.map(text => Buffer.from(text))
  const starts = new Uint32Array(parts.length + 1)
  parts.forEach((part, i) => {
    starts[i + 1] = (starts[i] ?? 0) + part.length
  })
  // Documents stand in another order than lines.
  const documents = Uint32Array.from(texts, (_, line) => texts.length - 1 - line)
  return { bytes: Buffer.concat(parts), starts, documents: () => documents }
}

describe('scanTexts', () => {
  const column = columnOf(lines)

  for (const test of tests) {
    it(`agrees with the test itself: ${JSON.stringify(test)}`, () => {
      const passes = createTest(test)
      const found = scanTexts(column, test)
      if (found === undefined) throw new Error('nothing is told')
      lines.forEach((line, i) => {
        const document = lines.length - 1 - i
        const [must, may] = [hasBit(found.must, document), hasBit(found.may, document)]
        if (passes(line)) expect(may, line.slice(0, 80)).to.equal(true)
        else expect(must, line.slice(0, 80)).to.equal(false)
        if (must) expect(may).to.equal(true)
      })
    })
  }

  it('leaves nothing open for a word of ASCII lines', () => {
    const ascii = columnOf(lines.filter(line => Buffer.byteLength(line) === line.length))
    for (const test of [words('error'), words('tok', true), contains('rror'), contains('Err', true)]) {
      const found = scanTexts(ascii, test)
      expect(found?.must).to.equal(found?.may)
    }
  })

  it('tells nothing where bytes do not', () => {
    for (const test of notTold) expect(scanTexts(column, test), JSON.stringify(test)).to.equal(undefined)
  })

  it('finds nothing in no lines', () => {
    expect(scanTexts(columnOf([]), words('error'))?.must).to.have.length(0)
  })
})
