import type { RequestOptions } from 'node:https'
import type { Dispatcher, Pool as FullPool } from 'undici'
// This much of the library: the rest (fetch, caches, WebSockets, mocks) takes longer to load than the other parts of the program.
import Pool from 'undici/lib/dispatcher/pool.js'
import type { Endpoint } from '../kube/endpoint.ts'
import type { HeaderLines } from './headers.ts'

/** Ready connections to the orchestrator, and the credential of Kapis itself. */
export type KubeLine = { readonly dispatcher: Pick<Dispatcher, 'dispatch'>; readonly credential: HeaderLines }

export type KubeConnections = {
  /** @param isLong whether the request may last for hours: those have connections of their own */
  readonly line: (isLong: boolean) => Promise<KubeLine> | KubeLine
  readonly close: () => void
}

/** Connections at most. Watches and log streams each hold one, and must not starve what is answered at once. */
export type ConnectionLimits = { readonly short: number; readonly long: number }

// kube-apiserver closes after 90 s of silence, and whoever closes second loses the request that is on its way.
const idleMs = 60_000
const connectMs = 10_000
// kube-apiserver itself gives up after 60 s, and then has something better to say than this side.
const answerMs = 70_000
const maxHeaderSize = 256 * 1024

/**
 * Keeps connections to the orchestrator open and in use. HTTP/1.1, one request at a time on each: measured against HTTP/2
 * and node:https it costs the least for each request, and a watch cannot hold up another request (docs/adr/0004-proxy.md).
 */
export function createKubeConnections(endpoint: Endpoint, limits: ConnectionLimits): KubeConnections {
  let options: RequestOptions | undefined
  let pools: { readonly short: Pool; readonly long: Pool } | undefined
  let lines: { readonly short: KubeLine; readonly long: KubeLine } | undefined

  function refresh(next: RequestOptions) {
    // The endpoint makes a new agent when the certificate or the authority changed, and only then.
    if (pools === undefined || options?.agent !== next.agent) {
      // What is being answered is answered to its end.
      for (const old of [pools?.short, pools?.long]) void old?.close()
      const settings = toPoolOptions(next)
      pools = {
        short: new Pool(endpoint.url.origin, { ...settings, connections: limits.short }),
        long: new Pool(endpoint.url.origin, {
          ...settings,
          headersTimeout: 0,
          bodyTimeout: 0,
          connections: limits.long,
        }),
      }
    }
    options = next
    const credential = Object.entries(next.headers ?? {}).flatMap(([name, value]) => [name, String(value)])
    lines = {
      short: { dispatcher: pools.short, credential },
      long: { dispatcher: pools.long, credential },
    }
    return lines
  }

  return {
    async line(isLong) {
      const next = await endpoint.options()
      const current = lines !== undefined && next === options ? lines : refresh(next)
      return isLong ? current.long : current.short
    },
    close() {
      for (const pool of [pools?.short, pools?.long]) void pool?.destroy()
    },
  }
}

function toPoolOptions({ ca, cert, key, rejectUnauthorized, servername }: RequestOptions): FullPool.Options {
  return {
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
    maxHeaderSize,
    connect: {
      timeout: connectMs,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
      ...(servername === undefined ? {} : { servername }),
    },
  }
}
