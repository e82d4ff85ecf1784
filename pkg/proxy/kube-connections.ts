import { type Dispatcher, ReloadingPool } from '../http/pool.ts'
import type { Access, RestConfig } from '../kubeclient/config/rest-config.ts'
import type { HeaderLines } from './headers.ts'

/** A connection pool for kube-apiserver, and the Authorization header of Kapis itself. */
export type KubeTransport = { readonly connections: Dispatcher; readonly credential: HeaderLines }

/** Kind of request: `long` for long-running requests, `upgrade` for protocol upgrades. */
type Kind = 'short' | 'long' | 'upgrade'

export type KubeConnections = {
  readonly line: (kind: Kind) => Promise<KubeTransport> | KubeTransport
  readonly close: () => void
}

/** Maximum numbers of connections; long requests cannot block short ones. */
export type ConnectionLimits = { readonly short: number; readonly long: number }

const options = {
  connectMs: 10_000,
  // kube-apiserver closes idle connections after 90 s; the proxy must close them first, or it may
  // lose a request in transit.
  idleMs: 60_000,
  maxHeadBytes: 256 * 1024,
}
// kube-apiserver itself times out after 60 s, with a more specific error.
const timed = { ...options, headMs: 70_000, bodyMs: 70_000 }
const untimed = { ...options, headMs: 0, bodyMs: 0 }

/** Creates keep-alive connection pools for kube-apiserver (docs/adr/0004-proxy.md). */
export function createKubeConnections(endpoint: RestConfig, limits: ConnectionLimits): KubeConnections {
  const pools: Readonly<Record<Kind, ReloadingPool>> = {
    short: new ReloadingPool(endpoint.url, { ...timed, connections: limits.short }),
    long: new ReloadingPool(endpoint.url, { ...untimed, connections: limits.long }),
    // An upgraded connection does not return to the pool.
    upgrade: new ReloadingPool(endpoint.url, { ...untimed, connections: limits.long }),
  }
  const choose = ({ tls, headers }: Access, kind: Kind): KubeTransport => ({
    connections: pools[kind].use(tls),
    credential: headers,
  })
  return {
    line(kind) {
      const access = endpoint.access()
      return access instanceof Promise ? access.then(ready => choose(ready, kind)) : choose(access, kind)
    },
    close() {
      for (const pool of Object.values(pools)) pool.destroy()
    },
  }
}
