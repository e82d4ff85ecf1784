import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { unavailable } from '../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { createMemoryStore, record } from '../../logs/fixtures.ts'
import type { ReadableNamespaces } from '../../logs/query/scope.ts'
import type { LogStore } from '../../logs/store.ts'
import { createDeletedPodLogs, isPodLogRequest } from './deleted-pod-logs.ts'
import { unlimitedConcurrency } from './fixtures.ts'

const base = 1_589_644_800
const at = (seconds: number) => BigInt(base + seconds) * 1_000_000_000n
const records = [
  record({ timeNs: at(0), log: 'crashed\n', dockerId: 'first' }),
  ...[1, 2, 3].map(i => record({ timeNs: at(i) + 5n, log: `line ${i}\n`, dockerId: 'second' })),
  record({ timeNs: at(4), log: 'no end', dockerId: 'second', fields: { stream: 'stderr' } }),
  record({ timeNs: at(0), log: 'of two\n', pod: 'pair', container: 'b' }),
  record({ timeNs: at(1), log: 'of two too\n', pod: 'pair', container: 'a' }),
  ...Array.from({ length: 2_500 }, (_, i) => record({ timeNs: at(7), log: `${i}\n`, pod: 'long' })),
]
const path = '/api/v1/namespaces/shop/pods/web-0'
const warning = (pod: string) => `299 - "pod \\"${pod}\\" no longer exists; the lines are from the log store"`

describe('createDeletedPodLogs', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function get(
    url: string,
    {
      readable = 'everywhere',
      store = createMemoryStore(records),
      created = base - 10,
      exportLimit = 0,
    } = {} as {
      exportLimit?: number
      readable?: ReadableNamespaces
      store?: LogStore
      created?: number
    },
  ) {
    const respond = createDeletedPodLogs({
      store,
      concurrency: unlimitedConcurrency,
      readable: async () => readable,
      created: () => new Map([['shop', created]]),
      limits: () => ({ queryTimeoutSeconds: 1, exportLimit }),
    })
    loopback = await startLoopback(async (req, res) => {
      try {
        if (!(await respond(toExchange(req, res)))) res.writeHead(404).end('not found')
      } catch (error) {
        renderKube(res, error)
      }
    })
    return loopback.get(url)
  }

  const logs: Readonly<Record<string, string>> = {
    '': 'line 1\nline 2\nline 3\nno end\n',
    '?container=web&follow=true': 'line 1\nline 2\nline 3\nno end\n',
    '?previous=true': 'crashed\n',
    '?tailLines=2': 'line 3\nno end\n',
    '?tailLines=0': '',
    '?tailLines=9000': 'line 1\nline 2\nline 3\nno end\n',
    '?limitBytes=9': 'line 1\nli',
    '?timestamps=true&limitBytes=38': '2020-05-16T16:00:01.000000005Z line 1\n',
    '?sinceTime=2020-05-16T16:00:03Z': 'line 3\nno end\n',
    '?sinceTime=2020-05-16T16:00:03Z&tailLines=1': 'no end\n',
    '?sinceTime=2020-05-16T16:00:03.000000005Z': 'line 3\nno end\n',
    '?sinceTime=2020-05-16T16:00:03.000000006Z': 'no end\n',
    '?sinceTime=2020-05-16T18:00:03.000000006%2B02:00': 'no end\n',
    '?sinceTime=1969-05-16T16:00:03Z&tailLines=1': 'no end\n',
    '?sinceTime=&tailLines=%2B1': 'no end\n',
    '?sinceSeconds=60': '',
    '?sinceTime=9999-12-31T23:59:59Z': '',
    '?sinceSeconds=9223372036854775807&tailLines=1': 'no end\n',
    '?stream=Stderr': 'no end\n',
    '?previous=false&timestamps=0&tailLines=1': 'no end\n',
  }
  for (const [query, text] of Object.entries(logs)) {
    it(`returns log${query}`, async () => {
      const response = await get(`${path}/log${query}`)
      expect([response.code, response.text]).to.deep.equal([200, text])
      expect(response.headers).to.include({ 'content-type': 'text/plain', warning: warning('web-0') })
    })
  }

  const ofPod = 'PodLogOptions "web-0" is invalid: '
  const invalid: Readonly<Record<string, readonly [number, string]>> = {
    '?tailLines=-1': [422, `${ofPod}tailLines: Invalid value: -1: must be greater than or equal to 0`],
    '?limitBytes=0': [422, `${ofPod}limitBytes: Invalid value: 0: must be greater than 0`],
    '?sinceSeconds=0': [422, `${ofPod}sinceSeconds: Invalid value: 0: must be greater than 0`],
    '?sinceSeconds=5&sinceTime=2020-05-16T16:00:03Z': [
      422,
      `${ofPod}Forbidden: at most one of \`sinceTime\` or \`sinceSeconds\` may be specified`,
    ],
    '?stream=stdout&limitBytes=-5': [
      422,
      `${ofPod}[limitBytes: Invalid value: -5: must be greater than 0, stream: Unsupported value: "stdout": supported values: "All", "Stderr", "Stdout"]`,
    ],
    '?stream=Stdout&tailLines=5': [
      422,
      `${ofPod}Forbidden: \`tailLines\` and specific \`stream\` are mutually exclusive for now`,
    ],
    '?tailLines=many': [400, 'invalid tailLines: strconv.ParseInt: parsing "many": invalid syntax'],
    '?limitBytes=': [400, 'invalid limitBytes: strconv.ParseInt: parsing "": invalid syntax'],
    '?sinceTime=2020-02-30T00:00:00Z': [
      400,
      'invalid sinceTime: parsing time "2020-02-30T00:00:00Z" as "2006-01-02T15:04:05Z07:00": expected RFC 3339',
    ],
    '?sinceTime=2020-05-16T24:00:00Z': [
      400,
      'invalid sinceTime: parsing time "2020-05-16T24:00:00Z" as "2006-01-02T15:04:05Z07:00": expected RFC 3339',
    ],
    '?sinceTime=noon': [
      400,
      'invalid sinceTime: parsing time "noon" as "2006-01-02T15:04:05Z07:00": expected RFC 3339',
    ],
  }
  for (const [query, [expected, message]] of Object.entries(invalid)) {
    it(`rejects log${query} as kube-apiserver does`, async () => {
      const { code, text } = await get(`${path}/log${query}`)
      expect([code, JSON.parse(text).message]).to.deep.equal([expected, message])
    })
  }

  it('returns the same Status as kube-apiserver for an invalid value', async () => {
    const { text } = await get(`${path}/log?tailLines=-1`)
    expect(JSON.parse(text)).to.deep.equal({
      ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
      message: `${ofPod}tailLines: Invalid value: -1: must be greater than or equal to 0`,
      reason: 'Invalid',
      details: {
        name: 'web-0',
        kind: 'PodLogOptions',
        causes: [
          {
            reason: 'FieldValueInvalid',
            message: 'Invalid value: -1: must be greater than or equal to 0',
            field: 'tailLines',
          },
        ],
      },
      code: 422,
    })
  })

  it('rejects a log with more lines than an export may have, but returns its end', async () => {
    const long = '/api/v1/namespaces/shop/pods/long/log'
    for (const query of ['', '?tailLines=2001', '?limitBytes=10']) {
      const { code, text } = await get(long + query, { exportLimit: 2000 })
      expect([code, JSON.parse(text).message]).to.deep.equal([
        400,
        'the export has 2500 lines or more, the limit is 2000 (logs.exportLimit): restrict the query, for example with tailLines or sinceTime (--tail or --since-time of kubectl)',
      ])
      await loopback?.close()
    }
    const { code, text } = await get(`${long}?tailLines=2000`, { exportLimit: 2000 })
    expect([code, text.split('\n').length]).to.deep.equal([200, 2001])
  })

  it('reads a long log in pages, also from its end', async () => {
    const long = '/api/v1/namespaces/shop/pods/long/log'
    const all = await get(long)
    expect(all.text.split('\n').length).to.equal(2_501)
    await loopback?.close()
    const tail = await get(`${long}?tailLines=1500`)
    expect(tail.text).to.equal(all.text.split('\n').slice(1_000).join('\n'))
  })

  it('returns the Pod that kubectl reads before its log, with its containers', async () => {
    const { code, text, headers } = await get('/api/v1/namespaces/shop/pods/pair')
    expect([code, JSON.parse(text), headers.warning]).to.deep.equal([
      200,
      {
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { name: 'pair', namespace: 'shop' },
        spec: { nodeName: 'worker-1', containers: [{ name: 'a' }, { name: 'b' }] },
        status: { phase: 'Unknown' },
      },
      warning('pair'),
    ])
  })

  it('requires a container name if there are several, as kube-apiserver does', async () => {
    const { code, text } = await get('/api/v1/namespaces/shop/pods/pair/log')
    expect([code, JSON.parse(text).message]).to.deep.equal([
      400,
      'a container name must be specified for pod pair, choose one of: [a b]',
    ])
    await loopback?.close()
    expect((await get('/api/v1/namespaces/shop/pods/pair/log?container=b')).text).to.equal('of two\n')
  })

  it('reports that there is no previous container', async () => {
    const { code, text } = await get('/api/v1/namespaces/shop/pods/long/log?previous=true')
    expect([code, JSON.parse(text).message]).to.deep.equal([
      400,
      'previous terminated container "web" in pod "long" not found',
    ])
  })

  const notFound: Readonly<Record<string, Parameters<typeof get>>> = {
    'a pod without lines': ['/api/v1/namespaces/shop/pods/none/log'],
    'a container without lines': [`${path}/log?container=none`],
    'a pod of another namespace': ['/api/v1/namespaces/bank/pods/web-0/log'],
    'a caller who may not read logs there': [`${path}/log`, { readable: ['bank'] }],
    'a namespace that was created after the lines': [
      `${path}/log`,
      { readable: ['shop'], created: base + 10 },
    ],
  }
  for (const [what, given] of Object.entries(notFound)) {
    it(`passes on the 404 of kube-apiserver for ${what}`, async () => {
      const { code, headers } = await get(...given)
      expect([code, headers.warning]).to.deep.equal([404, undefined])
    })
  }

  it('returns to a caller who may read the namespace the lines since its creation', async () => {
    const { text } = await get(`${path}/log?tailLines=1`, { readable: ['shop'] })
    expect(text).to.equal('no end\n')
  })

  it('passes on the 404 of kube-apiserver while the store does not respond, with a warning', async () => {
    const store = createMemoryStore(records)
    const query = async () => {
      throw unavailable('the log store is not responding', undefined, 1)
    }
    const { code, headers } = await get(`${path}/log`, { store: { ...store, query } })
    expect([code, headers.warning]).to.deep.equal([
      404,
      '299 - "the log store cannot be searched for this pod: the log store is not responding"',
    ])
  })
})

describe('isPodLogRequest', () => {
  const asked: Readonly<Record<string, boolean>> = {
    [`${path}/log`]: true,
    [path]: false,
    '/api/v1/namespaces/shop/pods': false,
    [`${path}/log/more`]: false,
    [`${path}/status`]: false,
    '/apis/apps/v1/namespaces/shop/pods/web-0/log': false,
    '/api/v1/namespaces/shop/services/web-0/log': false,
  }
  for (const [url, expected] of Object.entries(asked)) {
    it(`${expected ? 'accepts' : 'rejects'} ${url}`, async () => {
      const observed: boolean[] = []
      const server = await startLoopback((req, res) => {
        observed.push(isPodLogRequest(toExchange(req, res)))
        res.end()
      })
      for (const headers of [
        {},
        { 'kubectl-command': 'kubectl logs' },
        { 'kubectl-command': 'kubectl get' },
      ]) {
        await server.get(url, { headers })
      }
      await server.get(url, { method: 'DELETE', headers: { 'kubectl-command': 'kubectl logs' } })
      await server.close()
      expect(observed).to.deep.equal([expected, url === path || expected, expected, false])
    })
  }
})
