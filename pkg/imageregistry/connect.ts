import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { badRequest, type Status, unavailable } from '../apierrors/status.ts'
import { createAgent } from '../http/pool.ts'
import type { ProxyFor } from '../http/proxy-environment.ts'
import { readBody } from '../http/read-body.ts'

export type RegistrySettings = {
  /** PEM of the trusted CAs; undefined for the default CAs of the program. */
  readonly ca: string[] | undefined
  /** Registries (host with port) whose addresses are not checked against the blocked networks. */
  readonly trustedHosts: readonly string[]
  /** Selects the proxy; by default that of the environment variables (HTTPS_PROXY, NO_PROXY). */
  readonly proxyFor?: ProxyFor
}

export type HttpResponse = {
  readonly code: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

export type Connect = (
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<HttpResponse>

const timeoutMs = 10_000
const maxBytes = 8 * 1024 * 1024
const connections = {
  ...{ connections: 32, connectMs: timeoutMs, headMs: timeoutMs, bodyMs: timeoutMs, idleMs: 5_000 },
  maxHeadBytes: 64 * 1024,
}

// Blocked networks: a caller who names a registry must not reach services on this host or the
// metadata service of the cloud.
const blockedAddresses = new BlockList()
blockedAddresses.addSubnet('127.0.0.0', 8)
blockedAddresses.addSubnet('169.254.0.0', 16)
blockedAddresses.addSubnet('0.0.0.0', 8)
blockedAddresses.addAddress('::1', 'ipv6')
blockedAddresses.addAddress('::', 'ipv6')
blockedAddresses.addSubnet('fe80::', 10, 'ipv6')

/**
 * Connects to registries by HTTPS with verified certificates, except to loopback and link-local
 * addresses. Behind a proxy, which resolves names itself, only the proxy can reject names that
 * resolve to such addresses. Literal addresses are rejected in any case.
 *
 * @throws Status 400 for a rejected address, 503 if the registry is not responding
 */
export function createConnect({ ca, trustedHosts, proxyFor }: RegistrySettings): {
  connect: Connect
  close: () => void
} {
  const tls = ca === undefined ? {} : { ca }
  const trusted = createAgent(tls, connections, proxyFor)
  // The lookup checks the addresses that are then connected to, which prevents DNS rebinding.
  const guarded = createAgent({ ...tls, lookup: guardedLookup }, connections, proxyFor)

  const connect: Connect = async (url, headers, signal) => {
    if (url.protocol !== 'https:') throw badRequest(`${url.host} must use https`)
    const isTrusted = trustedHosts.includes(url.host)
    if (!isTrusted && isLocalName(url.hostname)) throw notAllowed(url.host)
    try {
      const response = await (isTrusted ? trusted : guarded).request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        headers: { 'user-agent': 'kapis', ...headers },
        signal,
      })
      const body = await readBody(response.body, maxBytes)
      return { code: response.statusCode, headers: response.headers, body }
    } catch (error) {
      if (error instanceof RejectedAddress) throw notAllowed(url.host)
      throw unavailable(`the registry ${url.host} is not responding`, error)
    }
  }
  return {
    connect,
    close() {
      for (const agent of [trusted, guarded]) void agent.destroy()
    },
  }
}

class RejectedAddress extends Error {}

function notAllowed(host: string): Status {
  return badRequest(
    `the registry ${host} resolves to an address that is not allowed; allow it with registries.trustedHosts`,
  )
}

/** Returns whether a host is a blocked address or a local name (RFC 6761 section 6.3). */
function isLocalName(hostname: string): boolean {
  const host = hostname.replace(/[[\]]/g, '')
  return isIP(host) === 0 ? /(^|\.)localhost\.?$/.test(host) : isRejected(host)
}

function isRejected(address: string): boolean {
  return blockedAddresses.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

const guardedLookup: LookupFunction = (name, options, done) =>
  lookup(name, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, [])
    if (addresses.some(({ address }) => isRejected(address))) return done(new RejectedAddress(), [])
    const [first] = addresses
    if (options.all === true || first === undefined) return done(null, addresses)
    done(null, first.address, first.family)
  })
