import { expect } from 'chai'
import { defaultLimits } from '../limits.ts'
import { parseDocument } from './document.ts'

const limits = {
  ...defaultLimits,
  ...{ lineBytes: 20, fieldBytes: 12, labels: 2, labelKeyBytes: 8 },
  ...{ fields: 3, fieldNameBytes: 10, fieldValueBytes: 12, fieldsBytes: 40 },
}
const time = '2020-05-16T16:00:42.608962452Z'
const cut = '2020-05-16T16:00:42.608Z'
const later = '2021-01-01T00:00:00Z'
const ns = 1589644842608962452n
const laterNs = 1609459200000000000n
const bare = { namespace: '', pod: '', container: '', host: '', dockerId: '' }
const kubernetes = {
  namespace_name: 'shop',
  pod_name: 'web-0',
  container_name: 'web',
  host: 'worker-1',
  docker_id: 'c0ffee',
  labels: { app: 'web', count: 2 },
}
const origin = {
  namespace: 'shop',
  pod: 'web-0',
  container: 'web',
  host: 'worker-1',
  dockerId: 'c0ffee',
  labels: { app: 'web', count: '2' },
}
const whole = { timeNs: ns, log: 'hello\n', ...origin }
const lineOf = (given: object) => ({ ...bare, timeNs: ns, log: 'x', ...given })

const loggers: readonly [what: string, document: object | string, record: object][] = [
  [
    'pino',
    { level: 30, time: 1589644842608, pid: 1, err: { stack: 'a\n b' }, msg: 'x' },
    lineOf({ timeNs: 1589644842608000000n, fields: { level: 30, pid: 1, 'err.stack': 'a\n b' } }),
  ],
  [
    'zap',
    '{"level":"error","ts":1589644842.608962452,"msg":"x","stacktrace":["a","b"]}',
    lineOf({ fields: { level: 'error', stacktrace: ['a', 'b'] } }),
  ],
  [
    'Log4j',
    { instant: { epochSecond: 1589644842, nanoOfSecond: 608962452 }, level: 'INFO', message: 'x' },
    lineOf({ fields: { level: 'INFO' } }),
  ],
  [
    'Google Cloud',
    { timestamp: { seconds: 1589644842, nanos: 608962452 }, severity: 'INFO', message: 'x' },
    lineOf({ fields: { severity: 'INFO' } }),
  ],
  [
    'Log4j before 2.11',
    { timeMillis: 1589644842608, message: 'x' },
    lineOf({ timeNs: 1589644842608000000n }),
  ],
  [
    'Serilog',
    { '@t': time, '@mt': 'Hello {Name}', '@l': 'Error', Name: 'x' },
    lineOf({ log: 'Hello {Name}', fields: { '@l': 'Error', Name: 'x' } }),
  ],
  [
    'Serilog with the rendered message',
    { '@t': time, '@m': 'Hello x', '@mt': 'Hello {Name}' },
    lineOf({ log: 'Hello x', fields: { '@mt': 'Hello {Name}' } }),
  ],
  ['.NET', { Timestamp: time, LogLevel: 'Error', Message: 'x' }, lineOf({ fields: { LogLevel: 'Error' } })],
  ['an empty log next to a message', { time, log: '', message: 'x' }, lineOf({ fields: { log: '' } })],
  ['only empty texts', { time, message: '', msg: '' }, lineOf({ log: '', fields: { msg: '' } })],
  ['Monolog', { message: 'x', datetime: time, channel: 'app' }, lineOf({ fields: { channel: 'app' } })],
  [
    'GELF',
    { version: '1.1', host: 'h', short_message: 'x', full_message: 'x\ny', timestamp: 1589644842.5, _id: 7 },
    lineOf({
      timeNs: 1589644842500000000n,
      fields: { version: '1.1', host: 'h', full_message: 'x\ny', _id: 7 },
    }),
  ],
  [
    'journald, whose text may be bytes',
    { MESSAGE: [195, 169, 9], __REALTIME_TIMESTAMP: '1589644842608962', PRIORITY: '6' },
    lineOf({ timeNs: 1589644842608962000n, log: 'é\t', fields: { PRIORITY: '6' } }),
  ],
  ['journald without a text', { time, MESSAGE: [] }, lineOf({ log: JSON.stringify({ time, MESSAGE: [] }) })],
  ...[[], [1, 2, 3]].map((log): [string, object, object] => [
    `the member log ${JSON.stringify(log)} of a parsed line`,
    { time, log, a: 1 },
    lineOf({ log: JSON.stringify(log), fields: { a: 1 } }),
  ]),
  [
    'tracing for Rust',
    { timestamp: time, level: 'INFO', fields: { message: 'x', yaks: 3 }, target: 'app' },
    lineOf({ fields: { level: 'INFO', 'fields.yaks': 3, target: 'app' } }),
  ],
  [
    'CloudEvents, which have no text',
    `{"specversion":"1.0","time":"${time}","data":{"a":1}}`,
    lineOf({
      log: `{"specversion":"1.0","time":"${time}","data":{"a":1}}`,
      fields: { specversion: '1.0', 'data.a': 1 },
    }),
  ],
  ...(['Resource', 'resource.attributes'] as const).map((resource): [string, object, object] => [
    `the Elasticsearch exporter of OpenTelemetry, with ${resource}`,
    {
      '@timestamp': resource === 'Resource' ? time : '1589644842608.962452',
      ...(resource === 'Resource' ? { Body: 'x' } : { body: { text: 'x' } }),
      [resource]: {
        ...{ 'k8s.namespace.name': 'shop', 'k8s.pod.name': 'web-0', 'k8s.container.name': 'web' },
        ...{ 'k8s.node.name': 'worker-1', 'container.id': 'c0ffee' },
        ...{ 'k8s.pod.labels.app': 'web', 'k8s.pod.label.count': '2', 'service.name': 'a' },
      },
      attributes: { a: 1 },
    },
    { ...whole, log: 'x', fields: { [`${resource}.service.name`]: 'a', 'attributes.a': 1 } },
  ]),
  [
    'the Elasticsearch exporter of OpenTelemetry in its mode ecs',
    {
      ...{ '@timestamp': time, message: 'x', log: { level: 'error' }, 'service.name': 'a' },
      ...{ container: { id: 'c0ffee' }, host: { name: 'worker-1' } },
      kubernetes: {
        namespace: 'shop',
        pod: { name: 'web-0', uid: 'u' },
        container: { name: 'web' },
        labels: { app: 'web', count: '2' },
      },
    },
    {
      ...{ ...whole, log: 'x' },
      fields: { 'log.level': 'error', 'service.name': 'a', 'kubernetes.pod.uid': 'u' },
    },
  ],
]

const valid: readonly [what: string, document: object | string, record: object][] = [
  ['Fluent Bit’s document', { '@timestamp': time, log: 'hello\n', kubernetes }, whole],
  [
    'Filebeat’s document',
    {
      '@timestamp': time,
      message: 'hello\n',
      container: { id: 'c0ffee' },
      kubernetes: {
        namespace: 'shop',
        pod: { name: 'web-0' },
        container: { name: 'web' },
        node: { name: 'worker-1' },
        labels: { app: 'web', count: '2' },
      },
    },
    whole,
  ],
  [
    'Vector’s document',
    {
      timestamp: time,
      message: 'hello\n',
      kubernetes: {
        pod_namespace: 'shop',
        pod_name: 'web-0',
        container_name: 'web',
        pod_node_name: 'worker-1',
        container_id: 'c0ffee',
        pod_labels: { app: 'web', count: '2' },
      },
    },
    whole,
  ],
  [
    'the agent’s timestamp, which precedes the application’s',
    { '@timestamp': later, time, log: 'x' },
    lineOf({ timeNs: laterNs, fields: { time } }),
  ],
  [
    'the runtime’s timestamp, which an agent truncated',
    { '@timestamp': cut, time, log: 'hello\n', kubernetes },
    whole,
  ],
  [
    'another timestamp if the preferred one is not a time',
    { '@timestamp': 'noon', time, log: 'x' },
    lineOf({ fields: { '@timestamp': 'noon' } }),
  ],
  [
    'another timestamp if the preferred one is too far in the future',
    { date: 9e9, time, log: 'x' },
    lineOf({ fields: { date: 9e9 } }),
  ],
  [
    'a timestamp in microseconds without a time zone',
    { time: '2020-05-16 16:00:42.608962452', log: 'x' },
    lineOf({}),
  ],
  ['a line without a pod', { time, log: 'x' }, lineOf({})],
  ['an empty line', { time, log: '' }, lineOf({ log: '' })],
  [
    'the message of the CRI parser',
    { time, message: 'x', stream: 'stderr' },
    lineOf({ fields: { stream: 'stderr' } }),
  ],
  ['the message of zap and slog', { time, msg: 'x', level: 'INFO' }, lineOf({ fields: { level: 'INFO' } })],
  [
    'a log field that is an object next to the message',
    { time, log: { a: 1 }, message: 'x' },
    lineOf({ fields: { 'log.a': 1 } }),
  ],
  ['a log field that is a number', { time, log: 7 }, lineOf({ log: '7' })],
  [
    'a log field that is an object',
    `{"time":"${time}","log":{"n":9007199254740993}}`,
    lineOf({ log: '{"n":9007199254740993}' }),
  ],
  [
    'a Filebeat document without a message, whose log field is the file of the line',
    `{"@timestamp":"${time}","event":"started","log":{"offset":7,"file":{"path":"/var/log/a.log"}}}`,
    lineOf({
      log: `{"@timestamp":"${time}","event":"started","log":{"offset":7,"file":{"path":"/var/log/a.log"}}}`,
      fields: { event: 'started', 'log.offset': 7, 'log.file.path': '/var/log/a.log' },
    }),
  ],
  [
    'a kubernetes field that is a string',
    { time, log: 'x', kubernetes: 'shop' },
    lineOf({ fields: { kubernetes: 'shop' } }),
  ],
  [
    'fields of every type, with exact integers',
    `{"time":"${time}","log":"x","a":{"b":-9223372036854775808,"c":[1,true,"z"]},"d":1.5,"e":null}`,
    lineOf({ fields: { 'a.b': -9223372036854775808n, 'a.c': [1, true, 'z'], d: 1.5 } }),
  ],
  ['an array of objects', { time, log: 'x', a: [{ b: 1 }] }, lineOf({ fields: { a: '[{"b":1}]' } })],
  [
    'names that are equal once flattened, with all their values',
    { time, log: 'x', 'a.b': 1, a: { b: 2 }, 'c.d': ['x'], c: { d: ['y', 3] }, 'e.f': 1, e: { f: 1 } },
    lineOf({ fields: { 'a.b': [1, 2], 'c.d': ['x', 'y', 3], 'e.f': 1 } }),
  ],
  [
    'several values for an origin, of which the first is used',
    {
      ...{ time, log: 'x', 'kubernetes.pod_name': 'web-0' },
      kubernetes: { pod_name: 'web-1', labels: { app: 'a' }, pod_labels: { app: 'b' } },
    },
    lineOf({
      ...{ pod: 'web-0', labels: { app: 'a' } },
      fields: { 'kubernetes.pod_name': 'web-1', 'kubernetes.pod_labels.app': 'b' },
    }),
  ],
  ...[
    ['_flb-key', `kube.var.log.containers.web-0.a_shop_web-${'c0ffee00'.repeat(8)}.log`],
    ['filename', `/var/log/containers/web-0.a_shop_web-${'c0ffee00'.repeat(8)}.log`],
  ].map(([name = '', file]): (typeof valid)[number] => [
    `the origin of a pod that its agent does not know, from ${name}`,
    { time, log: 'x', [name]: file },
    lineOf({ namespace: 'shop', pod: 'web-0.a', container: 'web', dockerId: 'c0ffee00'.repeat(8) }),
  ]),
  [
    'the origin from a file name of the kubelet, which contains more than the agent sent',
    {
      time,
      log: 'x',
      log_: 1,
      file: '/var/log/pods/shop_web-0_5b8efff7-9803-8103-d269-b633813fc60c/web/0.log',
    },
    lineOf({
      ...{ namespace: 'shop', pod: 'web-0', container: 'web' },
      fields: { log_: 1, file: '/var/log/pods/shop_web-0_5b8efff7-9803-8103-d269-b633813fc60c/web/0.log' },
    }),
  ],
  [
    'a file name of another pod than the agent names',
    { time, log: 'x', kubernetes, path: `/var/log/containers/a_b_c-${'c0ffee00'.repeat(8)}.log` },
    { ...whole, log: 'x', fields: { path: `/var/log/containers/a_b_c-${'c0ffee00'.repeat(8)}.log` } },
  ],
  ['empty names', { time, log: 'x', '': 'y', a: { '': 1 } }, lineOf({ fields: { '': 'y', 'a.': 1 } })],
  [
    'a number with nine decimals',
    '{"a":{"date":3},"date":1589644842.608962452,"log":"x","b":{"date":4}}',
    lineOf({ fields: { 'a.date': 3, 'b.date': 4 } }),
  ],
  ['any text', { time, log: 'a"b\\\u0000\u2028é' }, lineOf({ log: 'a"b\\\u0000\u2028é' })],
  [
    'the values of a repeated name, the last one first',
    `{"log":"x","a":1,"a":{"b":2,"b":3},"time":"${time}","a":4,"c\\"":5,"c\\"":6,"log":"y","d":[{"e":1}]}`,
    lineOf({
      log: 'y',
      fields: { a: [4, 1], 'c"': [6, 5], d: '[{"e":1}]', 'a.b': [2, 3], log: 'x' },
    }),
  ],
  [
    'the last of several origins, which the agent added after those of an application',
    `{"kubernetes":{"pod_name":"forged"},"time":"${time}","log":"x","kubernetes":{"pod_name":"web-0"}}`,
    lineOf({ pod: 'web-0', fields: { 'kubernetes.pod_name': 'forged' } }),
  ],
  [
    'numbers beyond those of a double, as texts',
    `{"time":"${time}","log":"x","a":1e400,"b":-1E400,"c":1e300,"d":12345678901234567890}`,
    lineOf({ fields: { a: '1e400', b: '-1E400', c: 1e300, d: 12345678901234567890n } }),
  ],
  [
    'control characters and unknown escapes in texts, and a byte order mark',
    `\ufeff{"time":"${time}","log":"a\tb\u0001\\x22\\q\\u12\\n\\\\x","a\tb":"\\"\\u00e9"}`,
    lineOf({ log: 'a\tb\u0001\\x22\\q\\u12\n\\x', fields: { 'a\tb': '"é' } }),
  ],
  [
    'numbers that are too small for a time',
    { time: 35, ts: '12.5', timestamp: 99_999_999.5, date: time, log: 'x' },
    lineOf({ fields: { time: 35, ts: '12.5', timestamp: 99_999_999.5 } }),
  ],
  ...loggers,
  [
    'names of Object.prototype',
    `{"time":"${time}","log":"x","__proto__":"y"}`,
    lineOf({ fields: JSON.parse('{"__proto__":"y"}') }),
  ],
]

const changed: readonly [
  what: string,
  document: object | string,
  record: object,
  notes: readonly string[],
][] = [
  ['a long line', { time, log: 'x'.repeat(21) }, lineOf({ log: 'x'.repeat(20) }), ['line_shortened']],
  [
    'a long line, at a character boundary',
    { time, log: `x${'é'.repeat(10)}` },
    lineOf({ log: `x${'é'.repeat(9)}` }),
    ['line_shortened'],
  ],
  [
    'a long pod name',
    { time, log: 'x', kubernetes: { pod_name: 'x'.repeat(13) } },
    lineOf({ pod: 'x'.repeat(12) }),
    ['origin_shortened'],
  ],
  [
    'too many labels',
    { time, log: 'x', kubernetes: { labels: { a: '1', b: '2', c: '3' } } },
    lineOf({ labels: { a: '1', b: '2' } }),
    ['label_omitted'],
  ],
  [
    'long labels',
    { time, log: 'x', kubernetes: { labels: { a: 'x'.repeat(13), [`${'y'.repeat(9)}`]: '' } } },
    lineOf({ labels: { a: 'x'.repeat(12) } }),
    ['label_omitted', 'label_shortened'],
  ],
  [
    'a long value',
    { time, log: 'x', a: 'y'.repeat(13) },
    lineOf({ fields: { a: 'y'.repeat(12) } }),
    ['field_shortened'],
  ],
  ['a long name', { time, log: 'x', [`${'n'.repeat(11)}`]: 1 }, lineOf({}), ['field_omitted']],
  [
    'too many fields',
    { time, log: 'x', a: 1, b: 2, c: 3, d: 4 },
    lineOf({ fields: { a: 1, b: 2, c: 3 } }),
    ['field_omitted'],
  ],
]

const invalid: readonly [document: object | string, problem: string][] = [
  ['{', 'not valid JSON'],
  ['[]', 'not a JSON object'],
  ['null', 'not a JSON object'],
  ['NaN', 'not a JSON object'],
  ['{"a":NaNs}', 'not valid JSON'],
  ['{"a":1.NaN}', 'not valid JSON'],
  ['{"a":NaN', 'not valid JSON'],
]

describe('parseDocument', () => {
  const textOf = (document: object | string) =>
    typeof document === 'string' ? document : JSON.stringify(document)

  for (const [what, document, record] of valid) {
    it(`parses ${what}`, () =>
      expect(parseDocument(textOf(document), defaultLimits)).to.deep.equal({ record }))
  }

  it('adds a note if only an object in a list repeats a name', () => {
    const { record, notes } = parseDocument(`{"time":"${time}","log":"x","a":[{"b":1,"b":2}]}`, limits)
    expect([record?.fields, notes]).to.deep.equal([{ a: '[{"b":2}]' }, ['field_omitted']])
  })

  it('stores NaN and Infinity, which json.dumps of Python writes, as strings', () => {
    const text = `{"time":"${time}","log":"NaN, \\"Infinity","a":NaN,"b":[ -Infinity,Infinity],"c":{"NaN":NaN},"n":1}`
    expect(parseDocument(text, defaultLimits).record).to.deep.equal(
      lineOf({
        log: 'NaN, "Infinity',
        fields: { a: 'NaN', b: ['-Infinity', 'Infinity'], 'c.NaN': 'NaN', n: 1 },
      }),
    )
  })

  for (const tail of ['"', '\\"', '\\', '{"a":']) {
    it(`reads invalid JSON with many ${JSON.stringify(tail)} in linear time`, () => {
      const started = performance.now()
      const { problem } = parseDocument(`{"a":NaN,"b":"${tail.repeat(200_000)}`, defaultLimits)
      expect([problem, performance.now() - started < 1_000]).to.deep.equal(['not valid JSON', true])
    })
  }

  it('accepts a numeric time next to values that are nested too deep, and reports these', () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const { record, notes } = parseDocument(`{"time":1589644842.5,"log":"x","more":${deep}}`, defaultLimits)
    expect(record).to.deep.include({ timeNs: 1589644842_500000000n, fields: { more: '(nested too deep)' } })
    expect(notes).to.deep.equal(['nested_too_deep'])
  })

  it('reports a message that is nested too deep', () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const { record, notes } = parseDocument(`{"time":"${time}","log":${deep}}`, defaultLimits)
    expect([record?.log, notes]).to.deep.equal(['(nested too deep)', ['nested_too_deep']])
  })

  for (const [what, document, record, notes] of changed) {
    it(`truncates to its limits ${what}`, () =>
      expect(parseDocument(textOf(document), limits)).to.deep.equal({ record, notes }))
  }

  it('rejects a document with too many values, and reads no more fields than a line can have', () => {
    const members = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`a${i}`, i]))
    const document = textOf({ time, log: 'x', ...members, kubernetes: { pod_name: 'web-0' } })
    const few = { ...defaultLimits, lineValues: 30 }
    expect(parseDocument(document, { ...few, jsonValues: 20 })).to.deep.equal({
      problem: 'has more than 20 values',
    })
    const { record, notes } = parseDocument(document, few)
    expect([record?.pod, Object.keys(record?.fields ?? {}).length, notes]).to.deep.equal([
      ...['web-0', 30],
      ['field_omitted'],
    ])
  })

  it('counts the empty strings of an array', () => {
    const { record, notes } = parseDocument(textOf({ time, log: 'x', a: Array(100).fill('') }), limits)
    expect(record?.fields).to.deep.equal({ a: Array(12).fill('') })
    expect(notes).to.deep.equal(['field_shortened'])
  })

  it('uses the whole document as the text of a line without a message', () => {
    const document = JSON.stringify({ time, level: 'info' })
    expect(parseDocument(document, defaultLimits).record).to.deep.equal(
      lineOf({ log: document, fields: { level: 'info' } }),
    )
  })

  it('accepts documents of unlimited nesting', () => {
    const deep = `{"time":"${time}","log":"x","a":${'{"a":'.repeat(9000)}1234567890123456789${'}'.repeat(9000)}}`
    expect(parseDocument(deep, defaultLimits).record?.log).to.equal('x')
  })

  for (const [document, problem] of invalid) {
    it(`rejects ${textOf(document).slice(0, 60)}`, () => {
      expect(parseDocument(textOf(document), limits)).to.deep.equal({ problem })
    })
  }

  it('accepts the time of a line that is two days in the future', () => {
    const at = new Date(Date.now() + 47 * 3_600_000).toISOString()
    const { record, notes } = parseDocument(textOf({ time: at, log: 'x' }), limits)
    expect([record?.timeNs, notes]).to.deep.equal([BigInt(Date.parse(at)) * 1_000_000n, undefined])
  })

  const ahead = new Date(Date.now() + 49 * 3_600_000).toISOString()
  const untimed: readonly [what: string, given: object, fields: object | undefined][] = [
    ['no time', {}, undefined],
    ['a time that is a word', { time: 'noon' }, { time: 'noon' }],
    ['a negative time', { '@timestamp': -1 }, { '@timestamp': -1 }],
    ['a time that is an object', { time: { seconds: 1 } }, { 'time.seconds': 1 }],
    ['a time that is not a value', { time: null, ts: null }, undefined],
    ['a time of more than two days ahead', { time: ahead }, { time: ahead }],
    [
      'a time in 2262',
      { time: '2262-04-11T23:47:16.854775807Z' },
      { time: '2262-04-11T23:47:16.854775807Z' },
    ],
    ['several invalid times', { date: 'noon', ts: 9e9 }, { date: 'noon', ts: 9e9 }],
  ]
  for (const [what, given, fields] of untimed) {
    it(`gives a line with ${what} the current time, and stores what was sent as a field`, () => {
      const from = BigInt(Date.now()) * 1_000_000n
      const { record, notes } = parseDocument(textOf({ ...given, log: 'x' }), defaultLimits)
      expect(notes).to.deep.equal(['time_of_arrival'])
      expect(record?.timeNs).to.satisfy((at: bigint) => at >= from && at <= BigInt(Date.now()) * 1_000_000n)
      expect([record?.log, record?.fields]).to.deep.equal(['x', fields])
    })
  }
})
