import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { auditEvents, toAuditRecord } from '../../logs/events/audit-event.ts'
import { auditEvent, kubeEvent, kubeEventRecord } from '../../logs/events/fixtures.ts'
import { kubeEvents } from '../../logs/events/kube-event.ts'
import { createMemoryStore } from '../../logs/fixtures.ts'
import type { ReadableNamespaces } from '../../logs/query/scope.ts'
import { unlimitedConcurrency } from './fixtures.ts'
import { createEventApi } from './serve-events.ts'

const base = 1_589_644_800
const node = { kind: 'Node', name: 'worker-1', uid: 'node-uid' }
const events = [
  kubeEvent('a', 1, { lastTimestamp: '2020-05-16T16:00:00Z' }),
  kubeEvent('a', 2, { lastTimestamp: '2020-05-16T16:15:00Z', reason: 'Scheduled', type: 'Normal' }),
  kubeEvent('b', 3, {
    lastTimestamp: '2020-05-16T16:30:00Z',
    involvedObject: { kind: 'Pod', namespace: 'bank', name: 'till-0', uid: 'till-uid' },
    message: 'Back-off <restarting>',
  }),
  kubeEvent('c', 4, { lastTimestamp: '2020-05-16T16:45:00Z', involvedObject: node }),
]
const audits = [
  auditEvent({ auditID: '1', stage: 'ResponseStarted', verb: 'watch' }),
  auditEvent({ auditID: '1', verb: 'watch' }),
  auditEvent({
    auditID: '2',
    user: { username: 'bob', groups: ['ops'] },
    sourceIPs: ['10.9.9.9'],
    verb: 'delete',
    objectRef: { resource: 'pods', namespace: 'bank', name: 'till-0', subresource: 'eviction' },
    responseStatus: { code: 403, status: 'Failure' },
    level: 'RequestResponse',
  }),
  auditEvent({ auditID: '3', user: { username: 'kubelet' }, objectRef: { resource: 'nodes', name: 'n' } }),
]

describe('createEventApi', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function send(
    path: string,
    readable: ReadableNamespaces | (() => ReadableNamespaces) = 'everywhere',
    more: readonly string[] = [],
  ) {
    const options = {
      ...{ concurrency: unlimitedConcurrency, permissionEveryMs: 0 },
      readable: async () => (typeof readable === 'function' ? readable() : readable),
      created: () =>
        new Map([
          ['shop', base - 1000],
          ['bank', base + 2000],
          ['new', base],
        ]),
      workspaces: () =>
        new Map([
          ['shop', 'retail'],
          ['bank', 'finance'],
          ['new', ''],
        ]),
      limits: () => ({ queryTimeoutSeconds: 1, exportLimit: 2000 }),
    }
    const apis = {
      events: createEventApi({
        ...options,
        kind: kubeEvents,
        store: createMemoryStore(events.map(kubeEventRecord)),
      }),
      auditing: createEventApi({
        ...options,
        kind: auditEvents,
        store: createMemoryStore([...audits.map(event => JSON.stringify(event)), ...more].map(toAuditRecord)),
      }),
    }
    await loopback?.close()
    loopback = await startLoopback(async (req, res) => {
      try {
        await apis[req.url?.startsWith('/auditing') ? 'auditing' : 'events'](toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
    return loopback.get(path)
  }

  const found: Readonly<Record<string, readonly (string | number)[]>> = {
    '/events': [4, 3, 2, 1],
    '/events?operation=&involved_object_name_filter=&size=&workspace_filter=': [4, 3, 2, 1],
    '/events?sort=asc&size=2&from=1': [2, 3],
    '/events?involved_object_namespace_filter=bank,none': [3],
    '/events?involved_object_namespace_search=ho': [2, 1],
    '/events?involved_object_name_filter=web-0': [2, 1],
    '/events?involved_object_name_filter=web': [],
    '/events?involved_object_name_search=TILL,orker': [4, 3],
    '/events?involved_object_kind_filter=Node': [4],
    '/events?reason_filter=Scheduled': [2],
    '/events?reason_search=sched': [4, 3, 2, 1],
    '/events?message_search=%3Crestart': [3],
    '/events?message_search=.*': [],
    '/events?type_filter=Normal': [2],
    '/events?type_filter=Warning&involved_object_kind_filter=Pod': [3, 1],
    '/events?workspace_filter=retail': [2, 1],
    '/events?workspace_search=fin': [3],
    '/events?workspace_filter=none': [],
    '/events?workspace_filter=retail&involved_object_namespace_filter=bank': [],
    [`/events?start_time=${base + 900}&end_time=${base + 1800}`]: [3, 2],
    '/auditing/events?sort=asc': ['1', '1', '2', '3'],
    '/auditing/events?objectref_namespace_filter=bank': ['2'],
    '/auditing/events?objectref_namespace_search=ban': ['2'],
    '/auditing/events?objectref_name_filter=till-0': ['2'],
    '/auditing/events?objectref_name_search=ill': ['2'],
    '/auditing/events?objectref_resource_filter=nodes': ['3'],
    '/auditing/events?objectref_subresource_filter=eviction': ['2'],
    '/auditing/events?level_filter=RequestResponse': ['2'],
    '/auditing/events?verb_filter=delete,create': ['2'],
    '/auditing/events?user_filter=bob': ['2'],
    '/auditing/events?user_filter=bo': [],
    '/auditing/events?user_search=KUBE': ['3'],
    '/auditing/events?group_search=op': ['2'],
    '/auditing/events?source_ip_search=9.9': ['2'],
    '/auditing/events?response_code_filter=403,404': ['2'],
    '/auditing/events?response_status_filter=Failure': ['2'],
  }
  type EventObject = { metadata: { resourceVersion?: string }; auditID?: string }
  for (const [path, expected] of Object.entries(found)) {
    it(`finds ${path}`, async () => {
      const { code, text } = await send(path)
      const { total, records = [] } = JSON.parse(text).query
      const names = records.map((one: EventObject) => one.auditID ?? Number(one.metadata.resourceVersion))
      expect([code, names]).to.deep.equal([200, expected])
      if (!path.includes('from')) expect(total).to.equal(expected.length)
      if (expected.length === 0) expect(JSON.parse(text)).to.deep.equal({ query: { total: 0 } })
    })
  }

  it('returns events as they were written', async () => {
    const { text } = await send('/events?size=1&involved_object_kind_filter=Node&with_cursor=true')
    const [record] = JSON.parse(text).query.records
    expect(record).to.deep.equal({ ...events[3], kind: 'Event', apiVersion: 'v1', cursor: 'c3' })
    const audit = await send('/auditing/events?user_filter=bob')
    expect(JSON.parse(audit.text).query.records).to.deep.equal([audits[2]])
  })

  it('preserves the text of events: numbers, escapes, the order of fields', async () => {
    const body = '{"b":9223372036854775807,"10":1.0,"9":"\\u003c"}'
    const event = JSON.stringify(auditEvent({ user: { username: 'exact' }, requestObject: 0 }))
    const exact = event.replace('"requestObject":0', `"requestObject":${body}`)
    const { text } = await send('/auditing/events?user_filter=exact', 'everywhere', [exact])
    expect(text).to.equal(`{"query":{"total":1,"records":[${exact}]}}\n`)
    const exported = await send('/auditing/events?operation=export&user_filter=exact', 'everywhere', [exact])
    expect(exported.text).to.equal(`${exact}\n`)
  })

  const responses: Readonly<Record<string, object>> = {
    '/events?operation=statistics': { statistics: { resources: 3, events: 4 } },
    '/auditing/events?operation=statistics': { statistics: { resources: 3, events: 4 } },
    '/events?operation=histogram&interval=1h': {
      histogram: { total: 4, buckets: [{ time: base * 1000, count: 4 }] },
    },
    '/events?operation=histogram&reason_filter=none': { histogram: { total: 0, buckets: null } },
  }
  for (const [path, response] of Object.entries(responses)) {
    it(`responds to ${path} with the expected result`, async () => {
      expect(JSON.parse((await send(path)).text)).to.deep.equal(response)
    })
  }

  it('ignores an unknown parameter, as consoles send it, with a warning', async () => {
    const { code, headers, text } = await send('/events?endTime=1&verb_filter=get')
    expect([code, JSON.parse(text).query.total]).to.deep.equal([200, 4])
    expect(headers.warning).to.match(
      /^299 - "ignored unknown parameters .*endTime.*verb_filter.*; supported: operation/,
    )
  })

  it('exports one event per line, in the requested order', async () => {
    const { headers, text } = await send('/events?operation=export&sort=asc&type_filter=Warning')
    const versions = text
      .trim()
      .split('\n')
      .map(line => Number(JSON.parse(line).metadata.resourceVersion))
    expect([versions, headers['content-type'], headers['content-disposition']]).to.deep.equal([
      [1, 3, 4],
      'application/x-ndjson',
      'attachment',
    ])
  })

  it('ends an export with an error when the permission is revoked', async () => {
    const many = Array.from({ length: 1500 }, (_, i) => JSON.stringify(auditEvent({ auditID: `${i}` })))
    for (const checks of [1, 2]) {
      let requestCount = 0
      const revoked = () => (requestCount++ < checks ? 'everywhere' : [])
      const ended = send('/auditing/events?operation=export', revoked, many).then(
        ({ code }) => code,
        error => error.code,
      )
      expect(await ended, `${checks}`).to.equal(checks === 1 ? 403 : 'ECONNRESET')
    }
  })

  it('returns events of namespaces that the caller may read, since their creation, and no others', async () => {
    const { total, records } = JSON.parse((await send('/events', ['shop', 'bank'])).text).query
    expect([total, records.length]).to.deep.equal([2, 2])
    const audit = JSON.parse((await send('/auditing/events', ['shop'])).text).query
    expect(audit.total).to.equal(2)
    const none: string[] = []
    for (const operation of ['query', 'statistics', 'histogram', 'export']) {
      none.push((await send(`/auditing/events?operation=${operation}`, [])).text)
    }
    expect(none).to.deep.equal([
      '{"query":{"total":0}}\n',
      '{"statistics":{"resources":0,"events":0}}\n',
      '{"histogram":{"total":0,"buckets":null}}\n',
      '',
    ])
  })

  const refused: Readonly<Record<string, string>> = {
    '/events?operation=context':
      'operation must be one of query, statistics, histogram, export, not "context"',
    '/events?start_time=1589644842608': 'milliseconds and finer are not accepted',
    '/events?from=10000': 'from + size must be at most 10000, not 10010',
    '/auditing/events?response_code_filter=4xx': 'response_code_filter must be HTTP status codes, not "4xx"',
    '/auditing/events?sort=up': 'sort must be one of desc, asc, not "up"',
  }
  for (const [path, message] of Object.entries(refused)) {
    it(`rejects ${path}`, async () => {
      const { code, text } = await send(path)
      const status = JSON.parse(text)
      expect([code, status.kind, status.reason]).to.deep.equal([400, 'Status', 'BadRequest'])
      expect(status.message).to.include(message)
    })
  }
})
