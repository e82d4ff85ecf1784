import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { connect as connectTcp, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { accessToken, kubectl, kubectlOutput, makeNamespace, tokenOf, uniqueName } from '../e2e/cluster.ts'
import { groupDomain, platformPath, sendAs } from '../e2e/http.ts'
import { output, setting } from '../e2e/run.ts'
import { apiserverUsage } from './process.ts'

const isLong = process.env.FAULTS === 'long'
const namespace = uniqueName('cheap')
const resources = `/kapis/resources.${groupDomain}/v1alpha3`
const accounts = ['a', 'b', 'c', 'd', 'e']

// Requests that cost an attacker little. None may block the server or fill its memory: other
// requests must complete within a second at the same time.
describe('cheap requests', function () {
  this.timeout(isLong ? 600_000 : 180_000)
  const open = new Set<TLSSocket>()
  let admin = ''
  let tokens: readonly string[] = []

  before(async () => {
    await makeNamespace(namespace, accounts)
    admin = await accessToken()
    tokens = await Promise.all(accounts.map(account => tokenOf(namespace, account)))
    await kubectlOutput(
      '-n',
      namespace,
      'create',
      'role',
      'reader',
      '--verb=get,list,watch',
      '--resource=configmaps',
    )
    const subjects = accounts.map(account => `--serviceaccount=${namespace}:${account}`)
    await kubectlOutput('-n', namespace, 'create', 'rolebinding', 'reader', '--role=reader', ...subjects)
  })
  after(() => kubectl('delete', 'namespace', namespace, '--wait=false'))
  afterEach(() => {
    for (const socket of open) socket.destroy()
    open.clear()
  })

  describe('for large objects, with responses that are not read', () => {
    const count = isLong ? 402 : 150
    const objects = 18

    before(async () => {
      const items = Array.from({ length: objects }, (_, i) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `large-${i}`, namespace },
        data: { text: `${i} ${'x'.repeat(1_000_000)}` },
      }))
      const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
      await output('kubectl', ['create', '-f', '-'], { stdin })
    })

    const inNamespace = `namespaces/${namespace}/configmaps`
    type Row = readonly [what: string, path: (i: number) => string, headers?: string]
    const subscriptions = JSON.stringify([
      { id: 'page', path: `${resources}/${inNamespace}?watch=true&limit=18` },
      { id: 'objects', path: `/kapi/v1/${inNamespace}?watch=true` },
    ])
    const rows: readonly Row[] = [
      ['a list', () => `${resources}/${inNamespace}`],
      [
        'lists, each another page',
        i => `${resources}/${inNamespace}?limit=${10 + (i % 8)}&page=1&ascending=${i % 2 > 0}`,
      ],
      ['a list of Kubernetes', () => `/kapi/v1/${inNamespace}`],
      ['a compressed list', () => `/kapi/v1/${inNamespace}`, 'Accept-Encoding: gzip\r\n'],
      ['members of all objects, each others', i => `/kapi/v1/${inNamespace}?fields=data,metadata.x${i}`],
      ['single objects', i => `/kapi/v1/${inNamespace}/large-${i % objects}`],
      ['watches', () => `/kapi/v1/${inNamespace}?watch=true`],
      [
        'watches, each of another selection',
        i => `/kapi/v1/${inNamespace}?watch=true&labelSelector=x!%3D${i}`,
      ],
      ['watched pages', () => `${resources}/${inNamespace}?watch=true&limit=18`],
      [
        'subscriptions',
        () => `${resources}/subscriptions?subscriptions=${encodeURIComponent(subscriptions)}`,
      ],
    ]
    for (const [what, path, headers = ''] of rows) {
      it(`${count} × ${what} leaves memory bounded`, async () => {
        // A subscription does not end, so the corresponding list is requested first to fill the
        // cache.
        const list = path(0).includes('/subscriptions?') ? `/kapi/v1/${inNamespace}` : path(0)
        await sendAs(admin, list.replace('watch=true', ''))
        await withstands(async () => {
          await hold(count, i => get(path(i), tokens[i % tokens.length] ?? '', headers))
          await sleep(isLong ? 10_000 : 3_000)
        })
      })
    }
  })

  describe('that scan everything', () => {
    // Only `make faults` runs these tests, on an idle machine: the flooding client uses a whole
    // core.
    if (!isLong) return
    before(async () => {
      const labels = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`l${i}`, `v${i}`]))
      const items = Array.from({ length: 1_000 }, (_, i) => ({
        ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { n: String(i), text: 'x'.repeat(2_000) } },
        metadata: { name: `small-${i}`, namespace, labels },
      }))
      const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
      await output('kubectl', ['create', '-f', '-'], { stdin })
    })

    const list = `/kapi/v1/namespaces/${namespace}/configmaps`
    const terms = (i: number, term: (n: number) => string) =>
      Array.from({ length: 32 }, (_, n) => `${term(n)}!%3D${i}`).join(',')
    const rows: readonly (readonly [what: string, path: (i: number) => string])[] = [
      ['labels', i => `${list}?limit=1&labelSelector=${terms(i, n => `l${n}`)}`],
      ['fields', i => `${list}?limit=1&fieldSelector=${terms(i, n => `data.x${n}`)}`],
      ['annotations', i => `${list}?limit=1&annotation=${terms(i, n => `l${n}`)}`],
      ['values to sort by', i => `${list}?limit=1&sortBy=.data.text&name=${i}`],
      ['words', i => `${list}?limit=1&q=x${i}`],
      ['members of all objects', i => `${list}?fields=data.n,metadata.labels.l${i % 20}`],
      ['all, indented', i => `${list}?pretty=true&name=${i % 10}`],
      ['brackets', () => `${list}?fields=${'['.repeat(8_000)}`],
      ['unknown names', i => `${resources}/namespaces/${namespace}/x${i}`],
    ]
    for (const [what, path] of rows) {
      it(`for ${what} by one user do not delay others`, async () => {
        await sendAs(admin, `${list}?limit=1`)
        await withstands(() => flood(isLong ? 100 : 40, isLong ? 15 : 4, path, tokens[0] ?? ''))
      })
    }
  })

  describe('that never end', () => {
    // Only `make faults` runs these tests: each takes longer than allowed in `make test`.
    if (!isLong) return
    const path = `/kapi/v1/namespaces/${namespace}/configmaps`
    const post = (i: number, framing: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${tokens[i % tokens.length]}\r\n` +
      `Content-Type: application/json\r\n${framing}\r\n`
    const secretly = `Authorization: Bearer ${'x'.repeat(100)}\r\n`
    type Row = readonly [what: string, bytes: (i: number) => string, drip: string]
    const rows: readonly Row[] = [
      ['bodies that do not come', i => post(i, 'Content-Length: 1000\r\n'), ''],
      ['bodies that come byte by byte', i => post(i, 'Content-Length: 100000\r\n'), ' '],
      ['bodies in chunks without an end', i => post(i, 'Transfer-Encoding: chunked\r\n'), '1\r\n \r\n'],
      [
        'bodies of strangers',
        () => `PUT ${path}/x HTTP/1.1\r\nHost: a\r\n${secretly}Content-Length: 9\r\n\r\n`,
        '',
      ],
      ['heads that come byte by byte', () => 'GET / HTTP/1.1\r\nHost: a\r\nX-A: ', 'x'],
      ['connections that say nothing', () => '', ''],
    ]
    for (const [what, bytes, drip] of rows) {
      it(`1000 × ${what} do not block others`, async () => {
        await withstands(async () => {
          await hold(1_000, bytes)
          await feed(15, drip)
        })
      })
    }

    it('1000 × unfinished handshakes do not block others', async () => {
      const { hostname, port } = new URL(setting('KAPIS_URL'))
      const silent: Socket[] = []
      await withstands(async () => {
        for (let i = 0; i < 1_000; i++)
          silent.push(connectTcp(Number(port), hostname).on('error', () => undefined))
        await sleep(15_000)
      }).finally(() => {
        for (const socket of silent) socket.destroy()
      })
    })
  })

  describe('with text that is expensive to parse', () => {
    if (!isLong) return
    const logs = `/kapis/tenant.${groupDomain}/v1alpha2/logs?q=`
    const weight = `Accept-Encoding: gzip;q=0.${'1'.repeat(30_000)}x\r\n`
    const rows: readonly (readonly [what: string, path: string, headers: string])[] = [
      ['Accept-Encoding with a weight of many digits', '/docs', weight],
      ['an expression of a million instructions', `${logs}/${'a%7B999%7D'.repeat(500)}/`, ''],
      ['hundreds of expressions', logs + '/a%7B999%7D/%20'.repeat(400), ''],
    ]
    for (const [what, path, headers] of rows) {
      it(what, () =>
        withstands(async () => {
          await hold(20, i => get(path, tokens[i % tokens.length] ?? '', headers))
          await sleep(3_000)
        }),
      )
    }
  })

  it('for lists of kube-apiserver, by a client that reads no response, use bounded memory', async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    // Proxied requests wait for kube-apiserver, which is under load itself.
    await withstands(
      async () => {
        await hold(isLong ? 402 : 100, i => get(path, tokens[i % tokens.length] ?? ''))
        await sleep(3_000)
      },
      { path: '/livez' },
    )
  })

  /**
   * Checks that other requests complete within a second during the attack, and that the memory of
   * the process remains far below the limit of the manifests (2 GiB). The first large responses
   * occupy some 600 MB; further ones must not occupy more.
   */
  async function withstands(
    attack: () => Promise<void>,
    { maxMegabytes = 1_200, path = `${platformPath}?limit=1` } = {},
  ): Promise<void> {
    const before = apiserverUsage().megabytes
    let most = before
    let isOver = false
    const probe = async () => {
      let slowestMs = 0
      while (!isOver) {
        const began = performance.now()
        const { code, body } = await sendAs(admin, path)
        slowestMs = Math.max(slowestMs, performance.now() - began)
        expect(code, body).to.equal(200)
        most = Math.max(most, apiserverUsage().megabytes)
        await sleep(500)
      }
      return slowestMs
    }
    // Measures the latency without an attack first, since the machine may be busy.
    const quiet = probe()
    await sleep(1_000)
    isOver = true
    const quietMs = await quiet
    isOver = false
    const probing = probe()
    try {
      await attack()
    } finally {
      isOver = true
      const slowestMs = await probing
      note(`${before} -> ${most} MB, slowest ${slowestMs.toFixed(0)} ms, ${quietMs.toFixed(0)} ms without it`)
      expect(slowestMs, 'ms of the slowest response to others').to.be.below(
        (isLong ? 1_000 : 8_000) + 2 * quietMs,
      )
    }
    expect(most, 'MB').to.be.below(maxMegabytes)
  }

  /**
   * Sends requests one after another on several connections for some seconds, and aborts the
   * remaining ones.
   */
  async function flood(
    connections: number,
    seconds: number,
    pathOf: (i: number) => string,
    token: string,
  ): Promise<void> {
    const { hostname, port } = new URL(setting('KAPIS_URL'))
    const agent = new Agent({
      keepAlive: true,
      maxSockets: connections,
      ca: readFileSync(setting('KAPIS_CA')),
    })
    const over = AbortSignal.timeout(seconds * 1_000)
    let i = 0
    const send = () =>
      new Promise<void>(resolve => {
        const headers = { authorization: `Bearer ${token}` }
        const req = request({ hostname, port, agent, path: pathOf(i++), headers, signal: over }, res =>
          res.resume().once('close', resolve),
        )
        req.once('error', () => resolve()).end()
      })
    const loop = async () => {
      while (!over.aborted) {
        await send()
        // Pauses, so that the load does not slow down the test process itself.
        await sleep(500)
      }
    }
    await Promise.all(Array.from({ length: connections }, loop))
    agent.destroy()
  }

  /** Sends more bytes on all connections once per second. */
  async function feed(seconds: number, bytes: string): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      if (bytes !== '') for (const socket of open) if (socket.writable) socket.write(bytes)
      await sleep(1_000)
    }
  }

  /** Opens connections, sends data on each, and does not read any response. */
  async function hold(connections: number, bytesOf: (i: number) => string): Promise<void> {
    const { hostname, port } = new URL(setting('KAPIS_URL'))
    const to = { host: hostname, port: Number(port), ca: readFileSync(setting('KAPIS_CA')) }
    for (let i = 0; i < connections; i++) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const socket = connect(to, () => socket.write(bytesOf(i), () => resolve()))
      socket.on('error', () => undefined).pause()
      open.add(socket)
      await promise
    }
  }
})

function get(path: string, token: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n`
}

function note(line: string): void {
  if (isLong || process.env.E2E_FIGURES) console.log(`      ${line}`)
}
