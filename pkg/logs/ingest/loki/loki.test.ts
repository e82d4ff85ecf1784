import { expect } from 'chai'
import { thrownFields } from '../../../apierrors/fixtures.ts'
import { writeVarint } from '../../../protobuf/wire.ts'
import { defaultLimits } from '../limits.ts'
import { readLoki } from './batch.ts'
import { parseLabels } from './labels.ts'

const field = (number: number, ...parts: readonly (Buffer | string)[]) => {
  const bytes = Buffer.concat(parts.map(part => Buffer.from(part)))
  return Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(bytes.length), bytes])
}
const time = (seconds: number, nanos: number) =>
  field(1, Buffer.from([0x08]), writeVarint(seconds), Buffer.from([0x10]), writeVarint(nanos))
const read = (body: Buffer, encoding: 'json' | 'protobuf') => [
  ...readLoki(body, encoding, defaultLimits).lines,
]

const records = [
  {
    ...{ timeNs: 1589644842608962452n, log: 'one', namespace: 'shop', pod: 'web-0', container: 'web' },
    ...{
      host: 'worker-1',
      dockerId: '',
      fields: { job: 'a"b', trace_id: 'c0ffee', level: ['error', 'info'] },
    },
  },
  {
    ...{ timeNs: 1589644843000000000n, log: '', namespace: 'shop', pod: 'web-0', container: 'web' },
    ...{ host: 'worker-1', dockerId: '', fields: { job: 'a"b', level: 'info' } },
  },
]
const labels = {
  namespace: 'shop',
  pod: 'web-0',
  container: 'web',
  node_name: 'worker-1',
  job: 'a"b',
  level: 'info',
}

describe('readLoki', () => {
  it('parses JSON', () => {
    const values = [
      ['1589644842608962452', 'one', { trace_id: 'c0ffee', level: 'error' }],
      ['1589644843000000000', ''],
    ]
    const body = Buffer.from(JSON.stringify({ streams: [{ stream: labels, values }] }))
    expect(read(body, 'json').map(({ record }) => record)).to.deep.equal(records)
  })

  it('parses protobuf', () => {
    const text = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    const metadata = (name: string, value: string) => field(3, field(1, name), field(2, value))
    const first = [
      time(1589644842, 608962452),
      field(2, 'one'),
      metadata('trace_id', 'c0ffee'),
      metadata('level', 'error'),
    ]
    const stream = field(
      1,
      field(1, `{${text.join(', ')}}`),
      field(2, ...first),
      field(2, time(1589644843, 0)),
    )
    expect(read(stream, 'protobuf').map(({ record }) => record)).to.deep.equal(records)
  })

  it('parses the record that Fluent Bit sends as a line, unless labels contain the origin', () => {
    const kubernetes = { namespace_name: 'shop', pod_name: 'web-0', labels: { app: 'web' } }
    const document = { time: '2020-05-16T16:00:42.608962452Z', stream: 'stderr', log: 'one\n', kubernetes }
    const line = JSON.stringify(document)
    const streams = ['node', 'namespace'].map(name => ({
      ...{ stream: { [name]: 'worker-1' }, values: [['1589644842608962452', line]] },
    }))
    const [whole, own] = read(Buffer.from(JSON.stringify({ streams })), 'json').map(({ record }) => record)
    expect(whole).to.deep.equal({
      ...{ timeNs: 1589644842608962452n, log: 'one\n', namespace: 'shop', pod: 'web-0', container: '' },
      ...{ host: 'worker-1', dockerId: '', labels: { app: 'web' }, fields: { stream: 'stderr' } },
    })
    expect([own?.log, own?.namespace, own?.pod]).to.deep.equal([line, 'worker-1', ''])
  })

  it('stores the lines of a stream with invalid labels', () => {
    const body = field(1, field(1, '{a=}'), field(2, time(1, 0), field(2, 'x')))
    expect(read(body, 'protobuf')[0]?.record?.fields).to.deep.equal({ labels: '{a=}' })
  })

  it('stores lines and values that are not strings', () => {
    const deep = `${'['.repeat(9000)}${']'.repeat(9000)}`
    const body = `{"streams":[{"stream":{"a":{"b":1},"deep":${deep}},"values":[["1",{"c":2}],["1",${deep}]]}]}`
    const lines = read(Buffer.from(body), 'json')
    expect(lines.map(({ record, notes }) => [record?.log, record?.fields?.['a.b'], notes])).to.deep.equal([
      ['{"c":2}', 1, ['nested_too_deep']],
      ['(nested too deep)', 1, ['nested_too_deep']],
    ])
  })

  it('gives lines without a time the current time, and stores what was sent as a field', () => {
    const values = [['noon', 'x'], ['1', 'y'], 'z', ['9223372036854775807', 'w'], [null, 'v']]
    const from = BigInt(Date.now()) * 1_000_000n
    const lines = read(Buffer.from(JSON.stringify({ streams: [{ values }] })), 'json')
    const isNow = (at = 0n) => at >= from && at <= BigInt(Date.now()) * 1_000_000n
    expect(
      lines.map(({ record, notes }) => [
        record?.log,
        record?.fields?.timestamp,
        isNow(record?.timeNs),
        notes,
      ]),
    ).to.deep.equal([
      ['x', 'noon', true, ['time_of_arrival']],
      ['y', undefined, false, undefined],
      ['z', undefined, true, ['time_of_arrival']],
      ['w', '9223372036854775807', true, ['time_of_arrival']],
      ['v', undefined, true, ['time_of_arrival']],
    ])
    const negative = field(1, field(1, '{}'), field(2, time(2 ** 63, 0), field(2, 'x')))
    const [line] = read(negative, 'protobuf')
    expect([line?.record?.fields, line?.notes]).to.deep.equal([
      { timestamp: -(2n ** 63n) * 1_000_000_000n },
      ['time_of_arrival'],
    ])
  })

  it('reads no more metadata than a line can have', () => {
    const metadata = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`m${i}`, i]))
    const body = JSON.stringify({ streams: [{ stream: metadata, values: [['1', 'x', metadata]] }] })
    const [line] = read(Buffer.from(body), 'json')
    expect(Object.keys(line?.record?.fields ?? {})).to.have.length(defaultLimits.fields)
    expect(line?.notes).to.deep.equal(['field_omitted'])
  })

  it('reads the format before Loki 1.0, and keeps metadata of other types', () => {
    const entries = [
      { ts: '2020-05-16T16:00:42Z', line: 'old', a: 1 },
      { ts: 'noon', line: '' },
    ]
    const values = [
      ['1', 'list', ['a', 2]],
      ['1', 'more', { b: 3 }, 'c'],
    ]
    const streams = [{ labels: '{namespace="shop"}', entries }, { stream: {}, values }, { a: 1 }]
    const lines = read(Buffer.from(`\ufeff${JSON.stringify({ streams })}`), 'json')
    expect(
      lines.map(({ record, notes }) => [record?.log, record?.namespace, record?.fields, notes]),
    ).to.deep.equal([
      ['old', 'shop', { a: 1 }, undefined],
      ['', 'shop', { timestamp: 'noon' }, ['time_of_arrival']],
      ['list', '', { metadata: ['a', 2] }, undefined],
      ['more', '', { b: 3, metadata: 'c' }, undefined],
      ['{"a":1}', '', { a: 1 }, ['time_of_arrival']],
    ])
  })

  it('stores invalid streams and lists of entries as lines, next to the valid ones', () => {
    const good = { stream: { namespace: 'shop', pod: 'web-0' }, values: [['1', 'good']] }
    const streams = [
      ...[1, null, 'text', { values: { a: 1 } }, { stream: 5, values: 'x' }, { stream: {} }],
      ...[{ stream: '{namespace="shop"}', values: [['1', 'named']] }, { stream: {}, values: [null] }, good],
    ]
    const lines = read(Buffer.from(JSON.stringify({ streams })), 'json')
    expect(lines.map(({ record }) => [record?.log, record?.namespace, record?.fields?.labels])).to.deep.equal(
      [
        ['1', '', undefined],
        ['null', '', undefined],
        ['text', '', undefined],
        ['{"a":1}', '', undefined],
        ['x', '', 5],
        ['named', 'shop', undefined],
        ['null', '', undefined],
        ['good', 'shop', undefined],
      ],
    )
  })

  it('rejects only the invalid entry or stream', () => {
    const good = field(1, field(1, '{namespace="shop"}'), field(2, time(1, 0), field(2, 'good')))
    const number = Buffer.from([0x10, 0x05])
    const bad = [
      field(1, field(1, '{}'), number, field(2, time(1, 0), field(2, 'after a number'))),
      field(1, field(1, '{}'), field(2, Buffer.from([0x0b])), field(2, time(1, 0), field(2, 'next'))),
      field(1, field(2, time(1, 0), field(2, 'first')), Buffer.from([0x12, 0x7f])),
      field(1, Buffer.from([0x08, 0x01]), field(2, time(1, 0), field(2, 'no labels'))),
      field(1, field(2, time(1, 0), field(2, 'metadata'), Buffer.from([0x18, 0x01]), field(3, '\x0b'))),
    ]
    const lines = read(Buffer.concat([good, ...bad, good]), 'protobuf')
    expect(lines.map(({ record, problem }) => record?.log ?? problem)).to.deep.equal([
      'good',
      'the entry cannot be read: field 2 has the wrong wire type',
      'after a number',
      'the entry cannot be read: a group is not ended',
      'next',
      'first',
      'the stream cannot be read: a field is truncated',
      'no labels',
      'metadata',
      'good',
    ])
  })

  it('omits labels and metadata of a wrong wire type, with a note', () => {
    const number = (tag: number) => Buffer.from([tag, 0x01])
    const good = field(3, field(1, 'a'), field(2, 'b'))
    const entry = (...metadata: readonly Buffer[]) => field(2, time(1, 0), field(2, 'x'), ...metadata)
    const streams = [
      field(1, entry(number(0x18), good)),
      field(1, entry(field(3, number(0x08), field(2, 'b')), good)),
      field(1, entry(field(3, field(1, 'c'), number(0x10)), good)),
      field(1, entry(field(3, field(1, 'c'), '\x12\x7f'), good)),
      field(1, number(0x08), entry(good)),
    ]
    for (const line of read(Buffer.concat(streams), 'protobuf'))
      expect([line.record?.log, line.record?.fields, line.notes]).to.deep.equal([
        ...['x', { a: 'b' }],
        ['field_omitted'],
      ])
  })

  it('gives a line with an invalid time the time of arrival', () => {
    for (const part of [Buffer.from([0x08, 0x01]), field(1, field(1, '1'))]) {
      const [line] = read(field(1, field(2, part, field(2, 'x'))), 'protobuf')
      expect([line?.record?.log, line?.notes]).to.deep.equal(['x', ['time_of_arrival']])
    }
  })

  it('reads no more streams than a batch can have lines', () => {
    const limits = { ...defaultLimits, batchLines: 3 }
    const readAll = (count: number) => [
      ...readLoki(Buffer.concat(Array(count).fill(field(1))), 'protobuf', limits).lines,
    ]
    expect(readAll(3)).to.deep.equal([])
    expect(thrownFields(() => readAll(4))).to.deep.equal({
      ...{ code: 413, reason: 'RequestEntityTooLarge' },
      message: 'the batch has too many streams, the limit is 3',
    })
  })

  it('reports how many lines the store rejected, and why', () => {
    const batch = readLoki(
      Buffer.from('{"streams":[{"values":[["1","x"],["2","y"]]}]}'),
      'json',
      defaultLimits,
    )
    expect([...batch.lines]).to.have.length(2)
    expect(batch.rejection?.(new Map([[1, { reason: 'too old' }]]))).to.equal(
      '1 of 2 lines were rejected; line 2: too old',
    )
    expect(batch.rejection?.(new Map())).to.equal(undefined)
  })

  const invalid: readonly (readonly ['json' | 'protobuf', string, string])[] = [
    ['json', '{', 'the body is not valid JSON'],
    ['json', '[]', 'invalid streams: expected a list of objects'],
    ['protobuf', '{"streams":[]}', 'the body is not a PushRequest: a field is truncated'],
  ]
  for (const [encoding, body, message] of invalid) {
    it(`rejects ${body} as ${encoding}`, () => {
      const rejection = thrownFields(() => read(Buffer.from(body), encoding))
      expect(rejection).to.deep.equal({ code: 400, reason: 'BadRequest', message })
    })
  }
})

describe('parseLabels', () => {
  const table: readonly (readonly [text: string, labels: readonly (readonly string[])[] | undefined])[] = [
    ['{}', []],
    [' { } ', []],
    ['{a="1"}', [['a', '1']]],
    [
      '{a="1",b="2",}',
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ],
    [
      '{ a = "1" , b=`2"\\n` }',
      [
        ['a', '1'],
        ['b', '2"\\n'],
      ],
    ],
    ['{"a.b/c"="}"}', [['a.b/c', '}']]],
    ['{a="\\"\\\\\\n\\t\\x41\\u00e9\\U0001f600\\101"}', [['a', '"\\\n\tAé😀A']]],
    ['{a="\\UFFFFFFFF"}', [['a', '\ufffd']]],
    ...[
      '',
      'a="1"',
      '{a}',
      '{a=}',
      '{a=1}',
      '{a="1" b="2"}',
      '{a="1"',
      '{="1"}',
      '{a="1",,b="2"}',
      '{a="\\"}',
    ].map(text => [text, undefined] as const),
  ]
  it('parses many labels and blanks in little time, and a long text without recursion', () => {
    const since = performance.now()
    const many = Array.from({ length: 4000 }, () => ['a', '1'])
    expect(parseLabels(`{${'a="1",'.repeat(4000)}${' '.repeat(200_000)}}`)).to.deep.equal(many)
    for (const text of ['a="1', '{"', '{a="', '{a="\\', '{', ' ', '{a="1",'])
      expect(parseLabels(`{${text.repeat(2_000_000)}"}`), text).to.equal(undefined)
    expect(performance.now() - since).to.be.below(3_000)
  })

  for (const [text, pairs] of table) {
    it(`reads ${text || 'nothing'}`, () => expect(parseLabels(text)).to.deep.equal(pairs))
  }
})
