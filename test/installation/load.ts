import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './control-plane.ts'

export type Load = {
  /**
   * Stops the load.
   *
   * @returns failures as messages, and counts
   */
  readonly stop: () => Promise<LoadReport>
}
export type LoadReport = {
  readonly failures: readonly string[]
  readonly requests: number
  readonly watchesStarted: number
  readonly events: number
  /**
   * Number of watches that had to list again, as clients must expect: a new replica has no earlier
   * events.
   */
  readonly expired: number
  readonly kubectlRuns: number
}

const path = '/apis/resources.kapis.io/v1alpha3/nodes'
const readers = 4
const watchers = 50

/**
 * Starts the load of a busy cluster on the extension API through kube-apiserver: continuous reads,
 * watches that resume, and kubectl. Every status other than 200 and every aborted connection is a
 * failure.
 */
export function startLoad(cluster: Cluster): Load {
  const base = cluster.env.KUBE_URL ?? ''
  const pki = (name: string) => readFileSync(join(cluster.runDir, 'pki', name))
  const credentials = { ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') }
  const agent = new Agent({ ...credentials, keepAlive: true, maxSockets: 200 })
  const failures: string[] = []
  const counts = { requests: 0, watchesStarted: 0, events: 0, expired: 0, kubectlRuns: 0 }
  const stop = new AbortController()
  const began = performance.now()
  const fail = (what: string, error: unknown) => {
    if (stop.signal.aborted) return
    const at = ((performance.now() - began) / 1000).toFixed(1)
    failures.push(`${at} s ${what}: ${error instanceof Error ? error.message : error}`)
  }

  async function open(target: string): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const req = request(`${base}${target}`, { agent, signal: stop.signal }, resolve)
    req.on('error', reject)
    req.end()
    const res = await promise
    if (res.statusCode === 200) return res
    throw new Error(
      `${res.statusCode} ${Buffer.concat(await res.toArray())
        .toString('utf8')
        .slice(0, 200)}`,
    )
  }

  async function read(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await (await open(path)).toArray()
        counts.requests++
      } catch (error) {
        fail('list', error)
      }
      await sleep(20)
    }
  }

  async function watch(): Promise<void> {
    let version = ''
    while (!stop.signal.aborted) {
      try {
        const from = version === '' ? '' : `&resourceVersion=${version}`
        const res = await open(`${path}?watch=1&allowWatchBookmarks=true${from}`)
        counts.watchesStarted++
        version = await lastVersion(res, version)
      } catch (error) {
        fail('watch', error)
      }
      await sleep(50)
    }
  }

  async function lastVersion(res: IncomingMessage, start: string): Promise<string> {
    let version = start
    let rest = ''
    for await (const chunk of res.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const { type, object } = JSON.parse(line)
        if (type === 'ERROR') {
          if (object.reason !== 'Expired') throw new Error(line)
          counts.expired++
          return ''
        }
        version = object.metadata.resourceVersion
        counts.events++
      }
    }
    return version
  }

  async function useKubectl(): Promise<void> {
    while (!stop.signal.aborted) {
      const ran = await cluster.kubectl(['get', 'nodes.resources.kapis.io'])
      if (ran.code === 0) counts.kubectlRuns++
      else fail('kubectl', ran.stderr)
      await sleep(500)
    }
  }

  const running = [
    ...Array.from({ length: readers }, read),
    ...Array.from({ length: watchers }, watch),
    useKubectl(),
  ]
  return {
    async stop() {
      stop.abort()
      await Promise.all(running)
      agent.destroy()
      return { failures, ...counts }
    },
  }
}

/** Records every change of the Available condition of an APIService. */
export function watchAvailability(cluster: Cluster, name: string) {
  const observed: string[] = []
  let isStopped = false
  const path = '{.status.conditions[?(@.type=="Available")]}'
  const looking = (async () => {
    while (!isStopped) {
      const { stdout } = await cluster.kubectl(['get', 'apiservice', name, '-o', `jsonpath=${path}`])
      const text = /"status":"(\w+)"/.exec(stdout)?.[1] ?? stdout
      if (observed.at(-1) !== text) observed.push(text)
      await sleep(300)
    }
  })()
  return {
    async stop(): Promise<readonly string[]> {
      isStopped = true
      await looking
      return observed
    },
  }
}
