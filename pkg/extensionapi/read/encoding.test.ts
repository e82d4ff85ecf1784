import { expect } from 'chai'
import { parse } from 'yaml'
import { type Loopback, startLoopback } from '../../apirequest/fixtures.ts'
import { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { sendJson } from '../../httpserver/response/respond.ts'
import { trickyTexts } from '../../yaml/fixtures.ts'
import type { NegotiatedMediaType } from './accept.ts'
import { contentType, reencode, reencodeList, toEncoding } from './encoding.ts'

const json: NegotiatedMediaType = { media: 'json', as: 'object', version: 'v1', pretty: false }

const tricky = trickyTexts.filter(text => text.isWellFormed() && text !== '<<')
const object = {
  kind: 'Node',
  metadata: { name: 'n1', annotations: Object.fromEntries(tricky.map((text, i) => [`a${i}`, text])) },
  spec: {
    list: tricky,
    empty: {},
    none: [],
    nil: null,
    flag: true,
    number: 1.5,
    large: 9_007_199_254_740_991,
  },
  keys: Object.fromEntries(tricky.map((key, i) => [key, i])),
}

describe('reencode', () => {
  const source = JSON.stringify(object)

  it('returns JSON unchanged', () => {
    expect(reencode(Buffer.from(source), 'json').toString()).to.equal(source)
  })

  it('indents by two spaces', () => {
    expect(reencode('{"a":[1,{}]}', 'pretty').toString()).to.equal('{\n  "a": [\n    1,\n    {}\n  ]\n}\n')
    expect(JSON.parse(reencode(source, 'pretty').toString())).to.deep.equal(object)
  })

  it('preserves numbers, escapes and the order of keys', () => {
    const exact = '{"b":9007199254740993,"10":1.0,"9":"\\u003c"}'
    expect(reencode(exact, 'pretty').toString()).to.equal(
      '{\n  "b": 9007199254740993,\n  "10": 1.0,\n  "9": "\\u003c"\n}\n',
    )
    expect(reencode(exact, 'yaml').toString()).to.equal('b: 9007199254740993\n"10": 1.0\n"9": "<"\n')
    expect(Buffer.concat([...reencodeList({ kind: 'List' }, 'items', [exact], 'yaml')]).toString()).to.equal(
      'kind: List\nitems:\n- b: 9007199254740993\n  "10": 1.0\n  "9": "<"\n',
    )
  })

  it('escapes a line separator in an annotation, so that it does not create YAML structure', () => {
    const annotations = { note: 'x\u2028kind: Secret\u2029a\u0085b' }
    const yaml = reencode(JSON.stringify({ kind: 'Node', metadata: { annotations } }), 'yaml').toString()
    expect(yaml).to.equal(
      'kind: Node\nmetadata:\n  annotations:\n    note: "x\\u2028kind: Secret\\u2029a\\u0085b"\n',
    )
  })

  it('writes YAML that parses to the same value', () => {
    expect(parse(reencode(source, 'yaml').toString())).to.deep.equal(object)
  })

  it('writes YAML that YAML 1.1 parsers, such as kubectl’s, parse to the same value', () => {
    expect(parse(reencode(source, 'yaml').toString(), { version: '1.1' })).to.deep.equal(object)
  })
})

describe('reencodeList', () => {
  const head = {
    kind: 'NodeList',
    apiVersion: 'v1',
    metadata: { resourceVersion: '5', remainingItemCount: 3 },
  }
  const write = (items: readonly unknown[], itemsKey: 'items' | 'rows', encoding: 'pretty' | 'yaml') =>
    Buffer.concat([
      ...reencodeList(
        head,
        itemsKey,
        items.map(item => JSON.stringify(item)),
        encoding,
      ),
    ]).toString()

  for (const items of [[], [object], [object, {}, object], tricky.map(text => ({ text }))]) {
    for (const itemsKey of ['items', 'rows'] as const) {
      it(`writes ${items.length} ${itemsKey} in pieces as in one call`, () => {
        const whole = { ...head, [itemsKey]: items }
        expect(write(items, itemsKey, 'pretty')).to.equal(`${JSON.stringify(whole, null, 2)}\n`)
        expect(parse(write(items, itemsKey, 'yaml'))).to.deep.equal(whole)
        expect(parse(write(items, itemsKey, 'yaml'), { version: '1.1' }), 'YAML 1.1').to.deep.equal(whole)
      })
    }
  }

  it('accepts items that are encoded already', () => {
    const items = [Buffer.from('{"a":"grün"}')]
    expect(
      parse(Buffer.concat([...reencodeList(head, 'items', items, 'yaml')]).toString()).items,
    ).to.deep.equal([{ a: 'grün' }])
  })
})

describe('toEncoding', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  type Row = readonly [Partial<NegotiatedMediaType>, string, string | undefined, string]
  const table: readonly Row[] = [
    [{}, '', undefined, 'json'],
    [{}, '', 'kubectl/v1.36.3', 'json'],
    [{}, '', 'curl/8.5.0', 'pretty'],
    [{}, '', 'Wget/1.21', 'pretty'],
    [{}, '', 'Mozilla/5.0 (X11)', 'pretty'],
    [{}, '', 'Mozilla/4.0', 'json'],
    [{}, '', 'my-curl/1', 'json'],
    [{}, 'pretty=1', undefined, 'pretty'],
    [{}, 'pretty=true', undefined, 'pretty'],
    [{}, 'pretty=false', 'curl/8.5.0', 'json'],
    [{}, 'pretty=', 'curl/8.5.0', 'json'],
    [{ pretty: true }, '', undefined, 'pretty'],
    [{ media: 'yaml' }, 'pretty=1', 'curl/8.5.0', 'yaml'],
  ]
  for (const [accepted, query, userAgent, expected] of table) {
    it(`returns ${expected} for ${JSON.stringify(accepted)} ?${query} from ${userAgent}`, async () => {
      loopback = await startLoopback((req, res) =>
        sendJson(res, 200, toEncoding({ ...json, ...accepted }, req, new QueryParameters(query))),
      )
      const headers: Record<string, string> = userAgent === undefined ? {} : { 'user-agent': userAgent }
      expect((await loopback.get('/', { headers })).text).to.equal(`"${expected}"\n`)
    })
  }
})

describe('contentType', () => {
  it('is the media type without parameters, with which clients compare', () => {
    expect([contentType('json'), contentType('pretty'), contentType('yaml')]).to.deep.equal([
      'application/json',
      'application/json',
      'application/yaml',
    ])
  })
})
