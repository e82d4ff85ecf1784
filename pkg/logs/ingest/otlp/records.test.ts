import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { thrownFields } from '../../../apierrors/fixtures.ts'
import { readFields, WireError, writeVarint } from '../../../protobuf/wire.ts'
import { defaultLimits } from '../limits.ts'
import { readExportRequestJson } from './json.ts'
import { readExportRequest, writeExportResponse } from './protobuf.ts'
import { toLines } from './records.ts'

// The output of the OpenTelemetry exporters for JavaScript for the same three records.
const fixtures = join(import.meta.dirname, '../../../../test/fixtures')
const protobuf = readFileSync(join(fixtures, 'otlp-logs.bin'))
const json = readFileSync(join(fixtures, 'otlp-logs.json'))

const shared = {
  namespace: 'shop',
  pod: 'web-0',
  container: 'web',
  host: 'worker-1',
  dockerId: 'c0ffee',
  labels: { app: 'web' },
}
const records = [
  {
    ...shared,
    timeNs: 1589644842608962452n,
    log: 'plain text é',
    container: 'sidecar',
    fields: {
      ...{ level: 'INFO', severity_number: 9, 'scope.name': 'recorder', 'scope.version': '1.0' },
      ...{ f: 1.5, list: ['a', 1], n: 7, ok: true, user: 'jane' },
    },
  },
  {
    ...shared,
    timeNs: 1589644843000000000n,
    log: '{"message":"structured","code":500,"nested":{"a":[1,2.5,"x",null]}}',
    fields: { 'scope.name': 'recorder', 'scope.version': '1.0' },
  },
  {
    ...shared,
    timeNs: 1589644844000000001n,
    log: '',
    fields: { 'scope.name': 'recorder', 'scope.version': '1.0' },
  },
]
const linesOf = (groups: Parameters<typeof toLines>[0], limits = defaultLimits) => [
  ...toLines(groups, limits),
]

describe('toLines for OTLP', () => {
  it('parses the protobuf that an exporter sends', () => {
    expect(linesOf(readExportRequest(protobuf, defaultLimits)).map(({ record }) => record)).to.deep.equal(
      records,
    )
  })

  it('parses the JSON that an exporter sends', () => {
    expect(linesOf(readExportRequestJson(json, defaultLimits)).map(({ record }) => record)).to.deep.equal(
      records,
    )
  })

  it('uses the observed time of a record without a time, otherwise the time of arrival', () => {
    const ahead = '4102444800000000000'
    const logRecords = [
      { observedTimeUnixNano: '5' },
      { timeUnixNano: ahead, observedTimeUnixNano: 5 },
      {},
      { timeUnixNano: 'noon' },
      { timeUnixNano: ahead, observedTimeUnixNano: ahead },
      { timeUnixNano: '18446744073709551615' },
      { observedTimeUnixNano: ahead },
    ]
    const body = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))
    const from = BigInt(Date.now()) * 1_000_000n
    const lines = linesOf(readExportRequestJson(body, defaultLimits))
    const isNow = (at = 0n) => at >= from && at <= BigInt(Date.now()) * 1_000_000n
    const arrived = ['now', ['time_of_arrival']]
    expect(
      lines.map(({ record, notes }) => [
        isNow(record?.timeNs) ? 'now' : record?.timeNs,
        notes,
        ...Object.entries(record?.fields ?? {}).flat(),
      ]),
    ).to.deep.equal([
      [5n, undefined],
      [5n, undefined, 'time_unix_nano', BigInt(ahead)],
      arrived,
      ['now', ['field_omitted', 'time_of_arrival']],
      [...arrived, 'time_unix_nano', BigInt(ahead)],
      [...arrived, 'time_unix_nano', 2n ** 64n - 1n],
      [...arrived, 'observed_time_unix_nano', BigInt(ahead)],
    ])
  })

  it('limits the attributes that all records share, but always stores their origin', () => {
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const attributes = [
      text('k8s.pod.name', 'web-0'),
      text('a', 'x'.repeat(50)),
      text('k8s.pod.label.app', 'web'),
    ]
    const logRecords = Array(3).fill({ timeUnixNano: '5', attributes: [text('own', 'y')] })
    const group = { resource: { attributes }, scopeLogs: [{ logRecords }] }
    const body = Buffer.from(JSON.stringify({ resourceLogs: [group] }))
    const lines = linesOf(readExportRequestJson(body, defaultLimits), { ...defaultLimits, sharedBytes: 100 })
    expect(
      lines.map(({ record, notes }) => [record?.pod, record?.labels, record?.fields, notes]),
    ).to.deep.equal([
      ['web-0', { app: 'web' }, { own: 'y', a: 'x'.repeat(50) }, undefined],
      ['web-0', undefined, { own: 'y' }, ['field_omitted']],
      ['web-0', undefined, { own: 'y' }, ['field_omitted']],
    ])
  })

  it('reads no more shared attributes than a line can have fields', () => {
    const attributes = Array.from({ length: 5000 }, (_, i) => ({
      ...{ key: i < 2500 ? `a${i}` : `k8s.pod.labels.l${i}`, value: { intValue: i } },
    }))
    const group = { resource: { attributes }, scopeLogs: [{ logRecords: [{ timeUnixNano: '5' }] }] }
    const body = Buffer.from(JSON.stringify({ resourceLogs: [group] }))
    const [line] = linesOf(readExportRequestJson(body, defaultLimits))
    expect(Object.keys(line?.record?.fields ?? {})).to.have.length(defaultLimits.fields)
    expect(Object.keys(line?.record?.labels ?? {})).to.have.length(defaultLimits.labels)
    expect(line?.notes).to.have.members(['field_omitted', 'label_omitted'])
  })

  it('does not use objects where a name or a number is expected', () => {
    const odd = '[{"toString":1,"valueOf":2},[{"toString":1}],7,null]'
    const records = JSON.parse(odd).map((value: unknown) => ({
      timeUnixNano: '5',
      severityNumber: value,
      attributes: [{ key: value, value: { intValue: value, doubleValue: value, stringValue: 'x' } }],
    }))
    const body = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: records }] }] }))
    expect(
      linesOf(readExportRequestJson(body, defaultLimits)).map(({ record }) => record?.fields),
    ).to.deep.equal([{ '': 'x' }, { '': 'x' }, { level: 'debug', severity_number: 7, 7: 'x' }, { '': 'x' }])
  })

  it('keeps values whose type differs from that of the protocol', () => {
    const odd = {
      timeUnixNano: '5',
      body: 'plain',
      severityNumber: 'SEVERITY_NUMBER_WARN2',
      attributes: [
        { key: 'text', value: { stringValue: 7 } },
        { key: 'bool', value: { boolValue: 'true' } },
        { key: 'int', value: { intValue: '1.5' } },
        { key: 'double', value: { doubleValue: 'much' } },
        { key: 'scalar', value: 'plain' },
        { key: 'list', value: { arrayValue: ['a', { intValue: 1 }] } },
        { key: 'map', value: { a: { b: 1 } } },
        { key: 'none', value: {} },
        'no pair',
      ],
    }
    const logRecords = [odd, { timeUnixNano: '5', attributes: { a: 1, b: { stringValue: 'x' } } }]
    const body = Buffer.from(`\ufeff${JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })}`)
    const lines = linesOf(readExportRequestJson(body, defaultLimits))
    expect(lines.map(({ record, notes }) => [record?.log, record?.fields, notes])).to.deep.equal([
      [
        'plain',
        {
          ...{ level: 'warn', severity_number: 14, text: 7, bool: 'true', int: '1.5', double: 'much' },
          ...{ scalar: 'plain', list: ['a', 1], 'map.a.b': 1 },
        },
        ['field_omitted'],
      ],
      ['', { a: 1, b: 'x' }, undefined],
    ])
  })

  it('keeps the trace flags and the number of dropped attributes, in both encodings', () => {
    const record = { timeUnixNano: '5', flags: 1, droppedAttributesCount: 3 }
    const body = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }))
    const fields = { trace_flags: 1, dropped_attributes_count: 3 }
    expect(linesOf(readExportRequestJson(body, defaultLimits))[0]?.record?.fields).to.deep.equal(fields)
    // Time 5 as fixed64, dropped_attributes_count 3, flags 1 as fixed32; without a length over 127.
    const message = (number: number, bytes: Buffer) =>
      Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes])
    const packed = Buffer.from('09050000000000000038034501000000', 'hex')
    const wire = message(1, message(2, message(2, packed)))
    expect(linesOf(readExportRequest(wire, defaultLimits))[0]?.record?.fields).to.deep.equal(fields)
  })

  it('reads the names before OTLP 0.19', () => {
    const group = { instrumentationLibrary: { name: 'lib' }, logRecords: [{ body: { stringValue: 'x' } }] }
    const body = JSON.stringify({ resourceLogs: [{ instrumentationLibraryLogs: [group] }] })
    const [line] = linesOf(readExportRequestJson(Buffer.from(body), defaultLimits))
    expect([line?.record?.log, line?.record?.fields]).to.deep.equal(['x', { 'scope.name': 'lib' }])
    // A record with the body "x" in field 1000 of ResourceLogs.
    const wire = Buffer.from('0a0ac23e0712052a030a0178', 'hex')
    expect(linesOf(readExportRequest(wire, defaultLimits))[0]?.record?.log).to.equal('x')
  })

  it('rejects a body that is another kind of request, of which nothing would be stored', () => {
    const read = (text: string) => () => linesOf(readExportRequestJson(Buffer.from(text), defaultLimits))
    expect(thrownFields(read('{"resourceSpans":[]}'))).to.deep.equal({
      ...{ code: 400, reason: 'BadRequest' },
      message: 'resourceLogs: must be a list of objects',
    })
    expect(read('{}')()).to.deep.equal([])
  })

  it('rejects a body with too many values', () => {
    const logRecords = Array(20).fill({ body: { stringValue: '{,[' } })
    const body = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))
    const read = (jsonValues: number) =>
      linesOf(readExportRequestJson(body, { ...defaultLimits, jsonValues }))
    expect(thrownFields(() => read(50))).to.deep.include({
      code: 413,
      message: 'the body has more than 50 values',
    })
    expect(read(100)).to.have.length(20)
  })

  it('rejects only the items that are not records', () => {
    const logRecords = [1, { timeUnixNano: '5', body: { stringValue: 'a' } }]
    const body = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))
    const lines = linesOf(readExportRequestJson(body, defaultLimits))
    expect(lines.map(({ record, problem }) => record?.log ?? problem)).to.deep.equal([
      'must be an object',
      'a',
    ])
  })

  it('reports values that are nested too deep, in a record and in its resource', () => {
    let value: object = { stringValue: 'x' }
    for (let i = 0; i < 40; i += 1) value = { arrayValue: { values: [value] } }
    const attributes = [{ key: 'deep', value }]
    const logRecords = [{ timeUnixNano: '5', attributes }, { timeUnixNano: '5' }]
    const notesOf = (...resourceLogs: readonly object[]) =>
      linesOf(readExportRequestJson(Buffer.from(JSON.stringify({ resourceLogs })), defaultLimits)).map(
        ({ notes }) => notes,
      )
    expect(notesOf({ scopeLogs: [{ logRecords }] })).to.deep.equal([['nested_too_deep'], undefined])
    const plain = [{ timeUnixNano: '5' }, { timeUnixNano: '5' }]
    const both = [['nested_too_deep'], ['nested_too_deep']]
    expect(notesOf({ resource: { attributes }, scopeLogs: [{ logRecords: plain }] })).to.deep.equal(both)
    expect(notesOf({ scopeLogs: [{ scope: { attributes }, logRecords: plain }] })).to.deep.equal(both)
  })

  const whole = {
    resource: {
      attributes: [
        { key: 'service.name', value: { stringValue: 'shop' } },
        { key: 'k8s.pod.labels.app', value: { stringValue: 'web' } },
        { key: 'level', value: { stringValue: 'of the resource' } },
        { key: 'k8s.namespace.name', value: { stringValue: 'of the resource' } },
      ],
    },
    scopeLogs: [
      {
        scope: { name: 'lib', attributes: [{ key: 'a', value: { boolValue: true } }] },
        logRecords: [
          {
            timeUnixNano: '5',
            severityNumber: 17,
            traceId: '5b8efff798038103d269b633813fc60c',
            spanId: 'eee19b7ec3c1b174',
            eventName: 'order.placed',
            body: { kvlistValue: { values: [{ key: 'n', value: { intValue: 0 } }] } },
            attributes: [
              { key: 'big', value: { intValue: '9223372036854775807' } },
              { key: 'double', value: { doubleValue: 'NaN' } },
              ...['level', 'trace_id', 'scope.name', 'k8s.namespace.name', 'twice', 'twice'].map(
                (key, i) => ({
                  key,
                  value: { stringValue: `own ${i}` },
                }),
              ),
              {
                key: 'kubernetes',
                value: {
                  kvlistValue: {
                    values: [{ key: 'namespace_name', value: { stringValue: 'shop' } }],
                  },
                },
              },
            ],
          },
        ],
      },
    ],
  }
  const expected = {
    ...{ timeNs: 5n, log: '{"n":9007199254740993}', namespace: 'shop' },
    ...{ pod: '', container: '', host: '', dockerId: '', labels: { app: 'web' } },
    fields: {
      ...{ 'service.name': 'shop', level: ['error', 'own 0', 'of the resource'], severity_number: 17 },
      ...{
        'scope.name': ['own 2', 'lib'],
        'scope.a': true,
        twice: ['own 4', 'own 5'],
        big: 9223372036854775807n,
        double: 'NaN',
      },
      ...{
        'k8s.namespace.name': 'own 3',
        trace_id: ['5b8efff798038103d269b633813fc60c', 'own 1'],
        span_id: 'eee19b7ec3c1b174',
      },
      event_name: 'order.placed',
    },
  }
  const exact = (text: string) => text.replace('"intValue":0', '"intValue":9007199254740993')
  const snake = (text: string) =>
    text.replaceAll(
      /"([a-z]+)([A-Z]\w*)":/g,
      (_, first: string, rest: string) =>
        `"${first}${rest.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)}":`,
    )
  for (const [names, change] of [
    ['lowerCamelCase', exact],
    ['snake_case', (text: string) => snake(exact(text))],
  ] as const) {
    it(`stores every part of a record, in ${names}`, () => {
      const text = change(JSON.stringify({ resourceLogs: [whole] }))
      const lines = linesOf(readExportRequestJson(Buffer.from(text), defaultLimits))
      expect(lines).to.deep.equal([{ record: expected }])
    })
  }

  it('takes the origin from the body that Fluent Bit sends, unless an attribute contains it', () => {
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const map = (...values: object[]) => ({ kvlistValue: { values } })
    const body = map(text('msg', 'x'), { key: 'kubernetes', value: map(text('pod_name', 'web-0')) })
    const logRecords = [{}, { attributes: [text('k8s.pod.name', 'own')] }].map(own => ({
      ...{ timeUnixNano: '5', body, ...own },
    }))
    const request = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))
    const records = linesOf(readExportRequestJson(request, defaultLimits)).map(({ record }) => record)
    expect(records.map(record => [record?.pod, record?.log])).to.deep.equal([
      ['web-0', '{"msg":"x","kubernetes":{"pod_name":"web-0"}}'],
      ['own', '{"msg":"x","kubernetes":{"pod_name":"web-0"}}'],
    ])
  })
})

describe('readExportRequest', () => {
  const invalid: Readonly<Record<string, Buffer>> = {
    'a cut field': protobuf.subarray(0, 200),
    'a number without an end': Buffer.from([0x0a, 0xff, 0xff]),
    'a number of eleven bytes': Buffer.from([0x08, ...Array(11).fill(0xff)]),
    'a field number of 0': Buffer.from([0x02, 0x00]),
    'a group': Buffer.from([0x0b]),
    'a message that is a number': Buffer.from([0x08, 0x01]),
    text: Buffer.from('{"resourceLogs":[]}'),
  }
  for (const [what, body] of Object.entries(invalid)) {
    it(`rejects ${what}`, () =>
      expect(() => linesOf(readExportRequest(body, defaultLimits))).to.throw(WireError))
  }

  it('accepts a record with unlimited nesting', () => {
    let value = Buffer.from([0x0a, 0x01, 0x78])
    const wrap = (number: number) => {
      value = Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(value.length), value])
    }
    for (let depth = 0; depth < 2000; depth++) for (const number of [1, 5]) wrap(number)
    for (const number of [5, 2, 2, 1]) wrap(number)
    const [line] = linesOf(readExportRequest(value, defaultLimits))
    expect(line?.notes).to.deep.equal(['nested_too_deep', 'time_of_arrival'])
    expect(line?.record?.log).to.match(/^\[+"\(nested too deep\)"\]+$/)
  })

  it('parses records lazily, and of each no more values than a line can have', () => {
    const message = (number: number, bytes: Buffer) =>
      Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(bytes.length), bytes])
    const many = (hex: string, count: number) => Buffer.from(hex.repeat(count), 'hex')
    const [group] = readExportRequest(message(1, message(2, many('1200', 1_000_000))), defaultLimits)
    const [first] = group?.records ?? []
    expect(first).to.deep.include({ time: 0n })
    // Records with too many attributes, list items and map entries.
    for (const record of [
      many('3200', 70_000),
      message(5, message(5, many('0a00', 70_000))),
      message(5, message(6, many('0a00', 70_000))),
    ]) {
      const [line] = linesOf(readExportRequest(message(1, message(2, message(2, record))), defaultLimits))
      expect(line?.notes).to.include('field_omitted')
    }
  })

  it('limits the values of repeated resources and scopes', () => {
    const message = (number: number, bytes: Buffer) =>
      Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(bytes.length), bytes])
    const many = Buffer.from('0a00'.repeat(70_000), 'hex')
    const record = message(2, Buffer.alloc(0))
    for (const request of [
      message(1, Buffer.concat([many, message(2, record)])),
      message(1, message(2, Buffer.concat([many, record]))),
    ]) {
      const [line] = linesOf(readExportRequest(request, defaultLimits))
      expect(line?.notes).to.deep.equal(['field_omitted', 'time_of_arrival'])
    }
  })

  it('rejects only the invalid record', () => {
    const message = (number: number, bytes: Buffer) =>
      Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(bytes.length), bytes])
    const time = Buffer.from('090500000000000000', 'hex')
    const group = Buffer.from('6b0a01786b6c08016c', 'hex')
    const records = [Buffer.from([0x0a, 0xff]), Buffer.concat([group, time]), group.subarray(0, 5)]
    const scopeLogs = Buffer.concat(records.map(record => message(2, record)))
    const lines = linesOf(readExportRequest(message(1, message(2, scopeLogs)), defaultLimits))
    expect(lines.map(({ record, problem }) => record?.timeNs ?? problem)).to.deep.equal([
      'a number is truncated',
      5n,
      'a group is not ended',
    ])
  })

  it('omits invalid parts of a record, with a note', () => {
    const message = (number: number, bytes: Buffer) =>
      Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(bytes.length), bytes])
    const time = Buffer.from('090500000000000000', 'hex')
    const body = message(5, message(1, Buffer.from('x')))
    const parts = [
      Buffer.from([0x18, 0x01]),
      Buffer.from([0x28, 0x01]),
      message(5, Buffer.from([0x0a, 0x7f])),
    ]
    for (const part of [
      ...parts,
      message(2, Buffer.of()),
      message(8, Buffer.of()),
      Buffer.from([0x48, 0x01]),
    ]) {
      const record = message(2, Buffer.concat([time, body, part]))
      const [line] = linesOf(readExportRequest(message(1, message(2, record)), defaultLimits))
      expect([line?.record?.timeNs, line?.record?.log, line?.notes]).to.deep.equal([
        5n,
        'x',
        ['field_omitted'],
      ])
    }
  })

  const odd: readonly (readonly [given: object, fields: object | undefined, notes?: readonly string[]])[] = [
    [
      { traceId: 5, spanId: true, severityText: 1.5 },
      { level: '1.5', trace_id: '5', span_id: 'true' },
    ],
    [{ traceId: { a: 1 } }, undefined, ['field_omitted']],
    [{ eventName: ['a'] }, undefined, ['field_omitted']],
    [{ severityNumber: 'high' }, undefined, ['field_omitted']],
    [{ severityNumber: 'SEVERITY_NUMBER_UNSPECIFIED', traceId: null }, undefined],
    [{ flags: 'x' }, undefined, ['field_omitted']],
    [
      { severityNumber: -1, flags: -2, droppedAttributesCount: -3 },
      { severity_number: -1, trace_flags: -2, dropped_attributes_count: -3 },
    ],
    [{ attributes: 'x' }, undefined, ['field_omitted']],
    [{ attributes: null }, undefined],
    [{ timeUnixNano: '1970-01-01T00:00:00.000000005Z' }, undefined],
    [{ observedTimeUnixNano: 'noon' }, undefined, ['field_omitted']],
    [{ observedTimeUnixNano: -1 }, undefined, ['field_omitted']],
  ]
  for (const [given, fields, notes] of odd) {
    it(`keeps or reports a value of another type in JSON: ${JSON.stringify(given)}`, () => {
      const logRecords = [{ timeUnixNano: '5', body: { stringValue: 'x' }, ...given }]
      const json = Buffer.from(JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }))
      const [line] = linesOf(readExportRequestJson(json, defaultLimits))
      expect([line?.record?.timeNs, line?.record?.log]).to.deep.equal([5n, 'x'])
      expect([line?.record?.fields, line?.notes]).to.deep.equal([fields, notes])
    })
  }

  for (const scopeLogs of [{ scope: 'x' }, { scope: { name: {} } }, { scope: { attributes: 7 } }]) {
    it(`reports a scope that it omits: ${JSON.stringify(scopeLogs)}`, () => {
      const logRecords = [{ timeUnixNano: '5' }]
      const json = Buffer.from(
        JSON.stringify({ resourceLogs: [{ scopeLogs: [{ ...scopeLogs, logRecords }] }] }),
      )
      expect(linesOf(readExportRequestJson(json, defaultLimits))[0]?.notes).to.deep.equal(['field_omitted'])
    })
  }

  it('rejects only the invalid part of a request', () => {
    const message = (number: number, ...parts: readonly Buffer[]) => {
      const bytes = Buffer.concat(parts)
      return Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(bytes.length), bytes])
    }
    const named = (key: string) => message(1, message(1, Buffer.from(key)), message(2, message(1)))
    const [isNumber, isCut] = [(number: number) => Buffer.from([number * 8, 1]), Buffer.from([0x12, 0x7f])]
    const record = (text: string) => message(2, message(5, message(1, Buffer.from(text))))
    const body = Buffer.concat([
      message(1, message(2, record('before'), isNumber(2), record('after'), isCut)),
      message(1, isNumber(2), message(2, record('next to a number')), isCut),
      message(1, message(1, isNumber(1), named('a')), message(2, record('attribute'))),
      message(1, isNumber(1), message(2, isNumber(1), record('no resource, no scope'))),
      message(1, message(2, message(1, isNumber(1), isNumber(3)), record('name'))),
      message(1, message(2, message(2, isNumber(6), message(5, message(1, Buffer.from('own')))))),
    ])
    const lines = linesOf(readExportRequest(body, defaultLimits))
    const omitted = ['field_omitted', 'time_of_arrival']
    const without = (text: string) => [text, text.includes('attribute') ? { a: '' } : undefined, omitted]
    const whole = (text: string) => [text, undefined, ['time_of_arrival']]
    const refused = (problem: string) => [problem, undefined, undefined]
    expect(
      lines.map(({ record: one, problem, notes }) => [one?.log ?? problem, one?.fields, notes?.toSorted()]),
    ).to.deep.equal([
      whole('before'),
      refused('field 2 has the wrong wire type'),
      whole('after'),
      refused('the ScopeLogs cannot be read: a field is truncated'),
      refused('the ScopeLogs have the wrong wire type'),
      whole('next to a number'),
      refused('the ResourceLogs cannot be read: a field is truncated'),
      without('attribute'),
      without('no resource, no scope'),
      without('name'),
      without('own'),
    ])
  })

  it('reads no more resources and scopes than a batch can have lines', () => {
    const many = (hex: string) => Buffer.from(hex.repeat(4), 'hex')
    const scopes = Buffer.concat([Buffer.from([0x0a, 8]), many('1200')])
    const limits = { ...defaultLimits, batchLines: 3 }
    for (const [body, what] of [
      [many('0a00'), 'resources'],
      [scopes, 'scopes'],
    ] as const) {
      expect(thrownFields(() => linesOf(readExportRequest(body, limits), limits))).to.deep.equal({
        ...{ code: 413, reason: 'RequestEntityTooLarge' },
        message: `the batch has too many ${what}, the limit is 3`,
      })
    }
  })

  it('parses the attributes of a resource once for all of its scopes', () => {
    const message = (number: number, bytes: Buffer) =>
      Buffer.concat([Buffer.from([number * 8 + 2]), writeVarint(bytes.length), bytes])
    const names = Array.from({ length: 4000 }, (_, i) => message(1, message(1, Buffer.from(`a${i}`))))
    const scope = message(2, message(2, Buffer.alloc(0)))
    const scopes = Array.from({ length: 20_000 }, () => scope)
    const body = message(1, Buffer.concat([message(1, Buffer.concat(names)), ...scopes]))
    const began = performance.now()
    expect(linesOf(readExportRequest(body, defaultLimits))).to.have.length(20_000)
    expect(performance.now() - began).to.be.below(5000)
  })

  it('throws only its own errors for any input', () => {
    for (let at = 0; at < protobuf.length; at++) {
      for (const byte of [0x00, 0x7f, 0x80, 0xff]) {
        const bytes = Buffer.from(protobuf)
        bytes[at] = byte
        try {
          linesOf(readExportRequest(bytes, defaultLimits))
        } catch (error) {
          expect(error).to.be.instanceOf(WireError)
        }
      }
    }
  })
})

describe('readExportRequestJson', () => {
  const invalid: Readonly<Record<string, string>> = {
    '{': 'the body is not valid JSON',
    '[]': 'the body must be an ExportLogsServiceRequest',
    '{"resourceLogs":{}}': 'resourceLogs: must be a list of objects',
  }
  it('rejects only the items that are not resources, scopes or lists of records', () => {
    const good = { logRecords: [{ timeUnixNano: '5', body: { stringValue: 'good' } }] }
    const resourceLogs = [
      ...[1, { scopeLogs: {} }, { scopeLogs: [1, { logRecords: 'x' }, good] }, { scopeLogs: [good] }],
    ]
    const lines = linesOf(readExportRequestJson(Buffer.from(JSON.stringify({ resourceLogs })), defaultLimits))
    expect(lines.map(({ record, problem }) => record?.log ?? problem)).to.deep.equal([
      'resourceLogs[0]: must be an object',
      'resourceLogs[1].scopeLogs: must be a list of objects',
      'resourceLogs[2].scopeLogs[0]: must be an object',
      'resourceLogs[2].scopeLogs[1].logRecords: must be a list of objects',
      'good',
      'good',
    ])
  })

  for (const [body, message] of Object.entries(invalid)) {
    it(`rejects ${body}`, () => {
      const rejection = thrownFields(() => linesOf(readExportRequestJson(Buffer.from(body), defaultLimits)))
      expect(rejection).to.deep.equal({ code: 400, reason: 'BadRequest', message })
    })
  }
})

describe('writeExportResponse', () => {
  it('is empty when all records were stored', () => expect(writeExportResponse(0, '')).to.have.length(0))

  it('contains how many records were rejected, and why', () => {
    const [outer] = [...readFields(writeExportResponse(300, 'time: is missing'))]
    const fields = [...readFields(outer?.bytes ?? Buffer.alloc(0))]
    expect(fields.map(({ number, value, bytes }) => [number, value ?? String(bytes)])).to.deep.equal([
      [1, 300n],
      [2, 'time: is missing'],
    ])
  })
})
