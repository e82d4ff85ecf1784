import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import {
  accessToken,
  kubectl,
  kubectlOutput,
  makeNamespace,
  sendToKapis,
  tokenOf,
  uniqueName,
} from '../e2e/cluster.ts'
import { eventually, groupDomain } from '../e2e/http.ts'
import { scratch } from '../e2e/run.ts'
import { startReplica } from '../faults/replica.ts'

export const ingestPath = `/kapis/logging.${groupDomain}/v1alpha2/ingest`

/** A line in an export of Kapis. */
export type ExportedLine = {
  readonly time: string
  readonly log: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly fields?: Readonly<Record<string, unknown>>
}

/**
 * A Kapis with its own log store, a relay that can cut connections, and a service account that may
 * ingest.
 */
export type ShipperScene = {
  /** The ingest URL for log shippers. */
  readonly url: string
  readonly namespace: string
  readonly token: string
  readonly grant: () => Promise<void>
  readonly revoke: () => Promise<void>
  /** Aborts all connections, and rejects new ones for this time. */
  readonly cut: (ms: number) => void
  /** Kills kapis-apiserver with SIGKILL, and starts it again. */
  readonly restart: () => Promise<void>
  /** Returns all lines of a namespace when there are `count`, or up to `repeats` more. */
  readonly found: (
    namespace: string,
    count: number,
    withinMs: number,
    repeats?: number,
  ) => Promise<readonly ExportedLine[]>
  readonly stop: () => Promise<void>
}

export async function startShipperScene(): Promise<ShipperScene> {
  const name = uniqueName('shippers')
  await makeNamespace(name, ['shipper'])
  const folder = join(scratch, name)
  const replica = await startReplica({ config: { logs: { store: 'embedded', embedded: { folder } } } })
  const relay = await startRelay(Number(new URL(replica.url).port))
  const admin = await accessToken()
  const send = async (parameters: string) => {
    const path = `/kapis/tenant.${groupDomain}/v1alpha2/logs?${parameters}`
    const { code, body } = await sendToKapis(`${replica.url}${path}`, {
      headers: { authorization: `Bearer ${admin}` },
    })
    expect(code, body).to.equal(200)
    return body
  }
  const bind = (role: string, binding: string) =>
    kubectlOutput(
      ...['create', 'clusterrolebinding', binding, `--clusterrole=${role}`],
      `--serviceaccount=${name}:shipper`,
    )
  const grant = async () => void (await bind('kapis:log-shipper', name))
  await grant()
  // Lets Fluent Bit query pods.
  await bind('view', `${name}-view`)
  return {
    url: `https://127.0.0.1:${relay.port}`,
    namespace: name,
    token: await tokenOf(name, 'shipper'),
    grant,
    revoke: async () => void (await kubectlOutput('delete', 'clusterrolebinding', name)),
    cut: relay.cut,
    async restart() {
      await replica.kill('apiserver')
      // Repeated, like restarts by the kubelet: the program ends while the previous process still
      // locks the folder.
      await eventually(() => replica.start('apiserver'), 240_000, 1000)
    },
    async found(namespace, count, withinMs, repeats = 0) {
      const statistics = `operation=statistics&namespaces=${namespace}`
      await eventually(
        async () =>
          expect(JSON.parse(await send(statistics)).statistics.logs).to.be.within(count, count + repeats),
        withinMs,
        1000,
      )
      // Empty text is omitted.
      const text = await send(`operation=export&format=jsonl&sort=asc&namespaces=${namespace}`)
      return text
        .trimEnd()
        .split('\n')
        .map((line): ExportedLine => ({ log: '', ...JSON.parse(line, keepDigits) }))
    },
    async stop() {
      await relay.close()
      await replica.stop()
      await kubectl('delete', 'clusterrolebinding', name, `${name}-view`)
      await kubectl('delete', 'namespace', name, '--wait=false')
    },
  }
}

/** Preserves all digits of large integers. */
function keepDigits(_: string, value: unknown, { source }: { readonly source?: string } = {}): unknown {
  const isLarge = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
  return isLarge && source !== undefined ? BigInt(source) : value
}

type Relay = {
  readonly port: number
  readonly cut: (ms: number) => void
  readonly close: () => Promise<void>
}

/** Starts a relay that forwards connections byte by byte. */
async function startRelay(port: number): Promise<Relay> {
  const open = new Set<Socket>()
  let cutUntil = 0
  const server = createServer(client => {
    if (Date.now() < cutUntil) return void client.destroy()
    const upstream = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const breakOff = () => {
    for (const socket of open) socket.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut(ms) {
      cutUntil = Date.now() + ms
      breakOff()
    },
    async close() {
      breakOff()
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}

export function expectEachOnce(numbers: readonly number[], count: number): void {
  const times = new Map<number, number>()
  for (const number of numbers) times.set(number, (times.get(number) ?? 0) + 1)
  const several = [...times].filter(([, n]) => n > 1).map(([number]) => number)
  const missing = Array.from({ length: count }, (_, i) => i).filter(i => !times.has(i))
  expect({
    several: several.slice(0, 10),
    missing: missing.slice(0, 10),
    count: numbers.length,
  }).to.deep.equal({
    ...{ several: [], missing: [], count },
  })
}
