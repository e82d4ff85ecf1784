import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

export type ClientAddress = (req: IncomingMessage) => string

/**
 * Returns the client address of a request. X-Forwarded-For is read from the right, as far as
 * trusted proxies have written it: the first address that is not trusted is the client. A client
 * could forge all entries to the left of it.
 *
 * @param trustedProxies returns the current addresses and CIDRs; a changed list must be another
 * array
 */
export function createClientAddress(trustedProxies: () => readonly string[]): ClientAddress {
  let ranges: readonly string[] = []
  let isTrusted = toTest(ranges)

  return req => {
    let client = plainAddress(req.socket.remoteAddress ?? '')
    const now = trustedProxies()
    if (now.length === 0) return client
    if (now !== ranges) {
      ranges = now
      isTrusted = toTest(now)
    }
    const hops = (req.headersDistinct['x-forwarded-for'] ?? []).join(',').split(',')
    for (const hop of hops.reverse()) {
      if (!isTrusted(client)) break
      const address = plainAddress(hop.trim())
      // An invalid address ends the search: the trusted proxy that sent it counts as the client.
      if (isIP(address) === 0) break
      client = address
    }
    return client
  }
}

function toTest(ranges: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList()
  for (const range of ranges) {
    const { address, prefix, family } = parseRange(range)
    trusted.addSubnet(address, prefix, family)
  }
  return address => {
    const version = isIP(address)
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }
}

/** @throws Error for a text that is neither an address nor a CIDR */
export function parseRange(text: string): { address: string; prefix: number; family: 'ipv4' | 'ipv6' } {
  const [address = '', length, ...more] = text.split('/')
  const version = isIP(address)
  const bits = version === 6 ? 128 : 32
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
  if (version === 0 || more.length > 0 || !(prefix <= bits))
    throw new Error('must be an IP address or a CIDR such as 10.0.0.0/8')
  return { address, prefix, family: version === 6 ? 'ipv6' : 'ipv4' }
}

/**
 * Normalizes an address: removes the prefix of IPv4-mapped IPv6 addresses (RFC 4291 section
 * 2.5.5.2), and brackets and ports that proxies add.
 */
function plainAddress(text: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '').toLowerCase()
}

/** Returns the network to count as one source: an IPv6 customer has at least a /64. */
export function sourceNetwork(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros =
    tail === undefined ? [] : new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return `${groups.map(group => (Number.parseInt(group, 16) || 0).toString(16)).join(':')}::/64`
}
