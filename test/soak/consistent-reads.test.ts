import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { expect } from 'chai'
import {
  group,
  kubeCa,
  kubectl,
  kubectlOutput,
  makeNamespace,
  tokenOf,
  uniqueName,
  version,
} from '../e2e/cluster.ts'
import { setting } from '../e2e/run.ts'

// Writes at kube-apiserver, each followed by a read of the extension API that must include the
// write (KEP-2340). `make soak` runs 50,000 pairs.
const pairs = Number(process.env.PAIRS ?? 12)
const connections = 2
const namespace = uniqueName('pairs')
const pods = `namespaces/${namespace}/pods`

type Reply = {
  readonly code: number
  readonly object: { readonly metadata: Metadata; readonly items?: readonly ListedObject[] }
}
type Metadata = {
  readonly name: string
  readonly resourceVersion: string
  readonly labels?: Readonly<Record<string, string>>
}
type ListedObject = { readonly metadata: Metadata }
type Send = (method: string, path: string, body?: object) => Promise<Reply>

describe(`${pairs} writes, each followed by a read`, function () {
  this.timeout(60_000 + pairs * 200)
  let token = ''
  before(async () => {
    await makeNamespace(namespace, ['default'])
    const account = `--serviceaccount=${namespace}:default`
    await kubectlOutput('create', 'clusterrolebinding', namespace, '--clusterrole=cluster-admin', account)
    token = await tokenOf(namespace, 'default')
  })
  after(() => kubectl('delete', `clusterrolebinding/${namespace}`, `namespace/${namespace}`, '--wait=false'))

  it(`are never stale, on ${connections} connections`, async () => {
    const kubeCaFile = await kubeCa()
    const stale: string[] = []
    const readMs: number[] = []
    const began = performance.now()
    const run = async (connection: number) => {
      const agents = [
        connectTo('KUBE_URL', kubeCaFile, token),
        connectTo('KAPIS_URL', setting('KAPIS_CA'), token),
      ] as const
      const [kube, kapis] = agents
      for (let i = connection; i < pairs; i += connections) {
        const { what, isStale } = await writeAndRead(kube.send, kapis.send, {
          connection,
          turn: (i - connection) / connections,
        })
        if (isStale) stale.push(`pair ${i}: ${what}`)
      }
      for (const { close } of agents) close()
    }
    const writeAndRead = async (
      kube: Send,
      kapis: Send,
      at: { readonly connection: number; readonly turn: number },
    ) => {
      const name = `c${at.connection}-${Math.floor(at.turn / 3)}`
      const native = `/api/v1/${pods}`
      // Lists of a namespace and of all namespaces are compared separately, with separate lists of
      // kube-apiserver.
      const list = `/apis/${group}/${version}/${at.turn % 2 === 0 ? pods : 'pods'}`
      const read = async (path: string) => {
        const since = performance.now()
        const reply = await kapis('GET', path)
        readMs.push(performance.now() - since)
        return reply
      }
      const includes = async () => {
        const { code, object } = await read(list)
        expect(code, JSON.stringify(object)).to.equal(200)
        return object.items?.some(({ metadata }) => metadata.name === name) ?? false
      }
      const write = async (...call: Parameters<Send>) => {
        const { code, object } = await kube(...call)
        expect(code, JSON.stringify(object)).to.be.within(200, 201)
        return object.metadata
      }
      switch (at.turn % 3) {
        case 0:
          await write('POST', native, toPod(name))
          return { what: `${name} is missing in ${list}`, isStale: !(await includes()) }
        case 1: {
          const { resourceVersion } = await write('PATCH', `${native}/${name}`, {
            metadata: { labels: { turn: String(at.turn) } },
          })
          const { metadata } = (await read(`/apis/${group}/${version}/${pods}/${name}`)).object
          const isStale =
            Number(metadata.resourceVersion) < Number(resourceVersion) ||
            metadata.labels?.turn !== String(at.turn)
          return { what: `${name} is at ${metadata.resourceVersion}, written at ${resourceVersion}`, isStale }
        }
        default:
          await write('DELETE', `${native}/${name}?gracePeriodSeconds=0`)
          return { what: `${name} is still in ${list}`, isStale: await includes() }
      }
    }
    await Promise.all(Array.from({ length: connections }, (_, connection) => run(connection)))
    const sorted = readMs.sort((a, b) => a - b)
    const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(1)
    const seconds = (performance.now() - began) / 1_000
    console.log(
      `      ${readMs.length} reads in ${seconds.toFixed(0)} s: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`,
    )
    expect(stale).to.deep.equal([])
    expect(readMs).to.have.length(pairs)
  })
})

function toPod(name: string): object {
  const containers = [{ name: 'none', image: 'none' }]
  return { metadata: { name }, spec: { automountServiceAccountToken: false, containers } }
}

/** Creates a client with a single keep-alive connection. */
function connectTo(
  server: 'KUBE_URL' | 'KAPIS_URL',
  caFile: string,
  token: string,
): { send: Send; close: () => void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: readFileSync(caFile) })
  const send: Send = (method, path, body) => {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': type }
    const req = request(
      new URL(path, setting(server)),
      { method, agent, headers, timeout: 30_000 },
      async res => {
        try {
          const text = Buffer.concat(await res.toArray()).toString('utf8')
          resolve({ code: res.statusCode ?? 0, object: JSON.parse(text) })
        } catch (error) {
          reject(error)
        }
      },
    )
    req.on('timeout', () => req.destroy(new Error(`no response to ${method} ${path}`)))
    req.on('error', reject)
    req.end(body === undefined ? undefined : JSON.stringify(body))
    return promise
  }
  return { send, close: () => agent.destroy() }
}
