import type { RequestOptions } from 'node:https'
import type { Endpoint } from '../kube/endpoint.ts'
import type { HeaderLines } from './headers.ts'
import { createUpstreamPool, type Upstream } from './upstream-pool.ts'
import type { UpstreamTarget } from './upstream-target.ts'

/** Ready connections to the orchestrator, and the credential of Kapis itself. */
export type KubeLine = { readonly connections: Upstream; readonly credential: HeaderLines }

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
const maxHeadBytes = 256 * 1024

/**
 * Keeps connections to the orchestrator open and in use. HTTP/1.1, one request at a time on each: measured against HTTP/2
 * and node:https it costs the least for each request, and a watch cannot hold up another request (docs/adr/0004-proxy.md).
 */
export function createKubeConnections(endpoint: Endpoint, limits: ConnectionLimits): KubeConnections {
  let options: RequestOptions | undefined
  let pools: { readonly short: Upstream; readonly long: Upstream } | undefined
  let lines: { readonly short: KubeLine; readonly long: KubeLine } | undefined

  function refresh(next: RequestOptions) {
    // The endpoint makes a new agent when the certificate or the authority changed, and only then.
    if (pools === undefined || options?.agent !== next.agent) {
      // What is being answered is answered to its end.
      for (const old of [pools?.short, pools?.long]) old?.close()
      const target = toTarget(endpoint.url, next)
      pools = {
        short: createUpstreamPool(target, limits.short),
        long: createUpstreamPool({ ...target, headMs: 0, bodyMs: 0 }, limits.long),
      }
    }
    options = next
    const credential = Object.entries(next.headers ?? {}).flatMap(([name, value]) => [name, String(value)])
    lines = {
      short: { connections: pools.short, credential },
      long: { connections: pools.long, credential },
    }
    return lines
  }

  function choose(next: RequestOptions, isLong: boolean): KubeLine {
    const current = lines !== undefined && next === options ? lines : refresh(next)
    return isLong ? current.long : current.short
  }

  return {
    line(isLong) {
      const next = endpoint.options()
      return next instanceof Promise ? next.then(ready => choose(ready, isLong)) : choose(next, isLong)
    },
    close() {
      for (const pool of [pools?.short, pools?.long]) pool?.destroy()
    },
  }
}

function toTarget(
  url: URL,
  { ca, cert, key, rejectUnauthorized, servername }: RequestOptions,
): UpstreamTarget {
  const tls = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    ...(servername === undefined ? {} : { servername }),
  }
  return { url, tls, connectMs, headMs: answerMs, bodyMs: answerMs, idleMs, maxHeadBytes }
}
