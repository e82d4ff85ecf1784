import type { KeyPair } from '../certs/issue.ts'
import { type Breaker, createBreaker } from './breaker.ts'
import type { Component } from './component.ts'
import { createUpstreamPool, type Upstream } from './upstream-pool.ts'
import type { UpstreamTarget } from './upstream-target.ts'

/** How a connection to a component is made. */
export type ComponentTls = {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly servername?: string
  readonly rejectUnauthorized: boolean
}

/** The connections to one component, and whether it is worth asking. */
export type ComponentUpstream = {
  readonly component: Component
  readonly breaker: Breaker
  readonly short: Upstream
  readonly long: Upstream
  readonly tls: ComponentTls
  readonly close: () => void
}

// A component that is slow may hold so many requests, and no more of what others need.
const connections = { short: 64, long: 512 }
const breaking = { failures: 5, openMs: 10_000 }
const idleMs = 30_000
const connectMs = 5_000
const maxHeadBytes = 16 * 1024

/** @param pair the front-proxy client certificate; it is shown to nobody over plain HTTP */
export function createComponentUpstream(component: Component, pair: KeyPair | undefined): ComponentUpstream {
  const { url, caPem, isVerified, serverName, timeoutMs } = component
  const tls: ComponentTls = {
    ...(caPem === undefined ? {} : { ca: caPem }),
    ...(pair === undefined ? {} : { cert: pair.certPem, key: pair.keyPem }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    rejectUnauthorized: isVerified,
  }
  const target: UpstreamTarget = {
    url,
    tls,
    connectMs: Math.min(connectMs, timeoutMs),
    headMs: timeoutMs,
    bodyMs: timeoutMs,
    idleMs,
    maxHeadBytes,
  }
  const short = createUpstreamPool(target, connections.short)
  const long = createUpstreamPool({ ...target, bodyMs: 0 }, connections.long)
  return {
    component,
    short,
    long,
    tls,
    breaker: createBreaker({ ...breaking, now: Date.now }),
    close() {
      // What is being answered is answered to its end.
      for (const pool of [short, long]) pool.close()
    },
  }
}
