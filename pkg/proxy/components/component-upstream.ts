import type { KeyPair } from '../../certs/issue.ts'
import { createPool, type Dispatcher } from '../../http/pool.ts'
import { type CircuitBreaker, createCircuitBreaker } from '../circuit-breaker.ts'
import type { Component } from './component.ts'

/** The connections to a component, and its circuit breaker. */
export type ComponentUpstream = {
  readonly component: Component
  readonly breaker: CircuitBreaker
  readonly short: Dispatcher
  readonly long: Dispatcher
  readonly close: () => void
}

// Limits concurrent requests per component: a slow one must not use up the resources of others.
const connections = { short: 64, long: 512 }
const breaking = { failures: 5, openMs: 10_000 }
const idleMs = 30_000
const connectMs = 5_000
const maxHeadBytes = 16 * 1024

/**
 * Creates the connection pools and the circuit breaker of a component.
 *
 * @param pair the front-proxy client certificate; not used over plain HTTP
 */
export function createComponentUpstream(component: Component, pair: KeyPair | undefined): ComponentUpstream {
  const { url, caPem, isVerified, serverName, timeoutMs } = component
  const tls = {
    ...(caPem === undefined ? {} : { ca: caPem }),
    ...(pair === undefined ? {} : { cert: pair.certPem, key: pair.keyPem }),
    ...(serverName === undefined ? {} : { servername: serverName }),
    rejectUnauthorized: isVerified,
  }
  const options = {
    connectMs: Math.min(connectMs, timeoutMs),
    headMs: timeoutMs,
    bodyMs: timeoutMs,
    idleMs,
    maxHeadBytes,
  }
  const short = createPool(url, tls, { ...options, connections: connections.short })
  const long = createPool(url, tls, { ...options, bodyMs: 0, connections: connections.long })
  return {
    component,
    short,
    long,
    breaker: createCircuitBreaker({ ...breaking, now: Date.now }),
    close() {
      // Closing a pool lets requests in progress complete.
      for (const pool of [short, long]) void pool.close()
    },
  }
}
