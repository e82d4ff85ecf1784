import { expect } from 'chai'
import { parseDocument } from './document.ts'
import { defaultLimits } from './limits.ts'

const limits = { ...defaultLimits, lineBytes: 20, fieldBytes: 12, labels: 2 }
const time = '2020-05-16T16:00:42.608962452Z'
const ns = 1589644842608962452n
const bare = { namespace: '', pod: '', container: '', host: '', dockerId: '' }
const kubernetes = {
  namespace_name: 'shop',
  pod_name: 'web-0',
  container_name: 'web',
  host: 'worker-1',
  docker_id: 'c0ffee',
  pod_id: 'not kept',
  labels: { app: 'web', count: 2 },
}
const whole = {
  timeNs: ns,
  log: 'hello\n',
  namespace: 'shop',
  pod: 'web-0',
  container: 'web',
  host: 'worker-1',
  dockerId: 'c0ffee',
  labels: { app: 'web', count: '2' },
}

const valid: readonly [what: string, document: object | string, record: object][] = [
  ['Fluent Bit’s document', { '@timestamp': time, log: 'hello\n', kubernetes }, whole],
  [
    'the container’s own time first',
    { '@timestamp': '2021-01-01T00:00:00Z', time, log: 'hello\n', kubernetes },
    whole,
  ],
  [
    'a time that is something else gives way',
    { '@timestamp': time, time: 'noon', log: 'x' },
    { ...bare, timeNs: ns, log: 'x' },
  ],
  ['a line of no pod', { time, log: 'x' }, { ...bare, timeNs: ns, log: 'x' }],
  ['an empty line', { time, log: '' }, { ...bare, timeNs: ns, log: '' }],
  ['the cri parser’s message', { time, message: 'x', stream: 'stderr' }, { ...bare, timeNs: ns, log: 'x' }],
  [
    'a number with nine decimals',
    '{"a":{"date":3},"date":1589644842.608962452,"log":"x","b":{"date":4}}',
    { ...bare, timeNs: ns, log: 'x' },
  ],
  ['any text', { time, log: 'a"b\\\u0000\u2028é' }, { ...bare, timeNs: ns, log: 'a"b\\\u0000\u2028é' }],
  [
    'members of an object’s prototype',
    `{"time":"${time}","log":"x","__proto__":{"log":"y"}}`,
    { ...bare, timeNs: ns, log: 'x' },
  ],
]

const invalid: readonly [document: object | string, problem: string][] = [
  ['{', 'not valid JSON'],
  ['[]', 'not a JSON object'],
  ['null', 'not a JSON object'],
  [{ log: 'x' }, 'time: is missing; give time or @timestamp'],
  [{ time: 'noon', log: 'x' }, 'time: must be RFC 3339 or a number of seconds since 1970, not "noon"'],
  [{ '@timestamp': -1, log: 'x' }, '@timestamp: must be RFC 3339 or a number of seconds since 1970, not -1'],
  [
    { time: { seconds: 1 }, log: 'x' },
    'time: must be RFC 3339 or a number of seconds since 1970, not {"seconds":1}',
  ],
  [{ time }, 'log: is missing or no string'],
  [{ time, log: 7 }, 'log: is missing or no string'],
  [{ time, log: 'x', kubernetes: 'shop' }, 'kubernetes: must be an object'],
  [{ time, log: 'x'.repeat(21) }, 'log: is 21 bytes long, the limit is 20'],
  [{ time, log: 'é'.repeat(11) }, 'log: is 22 bytes long, the limit is 20'],
  [{ time, log: 'x', kubernetes: { pod_name: 'x'.repeat(13) } }, 'pod: is longer than 12 bytes'],
  [{ time, log: 'x', kubernetes: { host: 'é'.repeat(7) } }, 'host: is longer than 12 bytes'],
  [
    { time, log: 'x', kubernetes: { labels: { a: '1', b: '2', c: '3' } } },
    'labels: there are 3, the limit is 2',
  ],
  [
    { time, log: 'x', kubernetes: { labels: { a: 'x'.repeat(13) } } },
    'labels: a key or value is longer than 12 bytes',
  ],
]

describe('parseDocument', () => {
  const textOf = (document: object | string) =>
    typeof document === 'string' ? document : JSON.stringify(document)

  for (const [what, document, record] of valid) {
    it(`takes ${what}`, () => expect(parseDocument(textOf(document), limits)).to.deep.equal({ record }))
  }

  for (const [document, problem] of invalid) {
    it(`refuses ${textOf(document).slice(0, 60)}`, () => {
      expect(parseDocument(textOf(document), limits)).to.deep.equal({ problem })
    })
  }

  it('takes a line of two days ahead, and none of more', () => {
    const ahead = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const read = (at: string) => parseDocument(textOf({ time: at, log: 'x' }), limits)
    expect(read(ahead(47)).problem).to.equal(undefined)
    expect(read(ahead(49)).problem).to.match(/^time: is \S+Z, the limit is 2 days ahead of now, \S+Z$/)
    expect(read('2262-04-11T23:47:16.854775807Z').problem).to.match(
      /^time: is 2262-04-11T23:47:16\.854775807Z, the limit is 2 days/,
    )
  })
})
