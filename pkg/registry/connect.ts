import { lookup } from 'node:dns'
import { Agent, request } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { badRequest, unavailable } from '../status/status.ts'

export type RegistrySettings = {
  /** Authorities that are trusted beside the public ones, as PEM. */
  readonly caPem: string | undefined
  /** Hosts (with port) that may lie at addresses that are otherwise refused. */
  readonly trustedHosts: readonly string[]
}

export type Answer = {
  readonly code: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

export type Connect = (
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<Answer>

const timeoutMs = 10_000
const maxBytes = 8 * 1024 * 1024

// Whoever names a registry must not reach through us what is on this host, or the cloud's metadata service.
const refused = new BlockList()
refused.addSubnet('127.0.0.0', 8)
refused.addSubnet('169.254.0.0', 16)
refused.addSubnet('0.0.0.0', 8)
refused.addAddress('::1', 'ipv6')
refused.addAddress('::', 'ipv6')
refused.addSubnet('fe80::', 10, 'ipv6')

/**
 * HTTPS to registries, verified, and to no address that only this host can reach.
 *
 * @throws Status 400 for a refused address, 503 when the registry does not answer
 */
export function createConnect({ caPem, trustedHosts }: RegistrySettings): {
  connect: Connect
  close: () => void
} {
  const agent = new Agent({ keepAlive: true, maxSockets: 32, ...(caPem === undefined ? {} : { ca: caPem }) })

  const connect: Connect = async (url, headers, signal) => {
    if (url.protocol !== 'https:') throw badRequest(`${url.host} must be reached by https`)
    const isTrusted = trustedHosts.includes(url.host)
    if (!isTrusted && isIP(url.hostname.replace(/[[\]]/g, '')) !== 0)
      refuse(url.hostname.replace(/[[\]]/g, ''), url.host)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const options = {
      agent,
      headers: { 'user-agent': 'kapis', ...headers },
      signal,
      timeout: timeoutMs,
      // Looked up once: what is checked is what is connected to, whatever the name says a moment later.
      ...(isTrusted ? {} : { lookup: guardedLookup(url.host) }),
    }
    const req = request(url, options, async res => {
      try {
        resolve({ code: res.statusCode ?? 0, headers: res.headers, body: await readBody(res) })
      } catch (error) {
        reject(error)
      }
    })
    req.on('timeout', () => req.destroy(new Error('timeout')))
    req.on('error', error =>
      reject(
        isRefusal(error)
          ? badRequest(error.message)
          : unavailable(`the registry ${url.host} does not answer`, error),
      ),
    )
    req.end()
    return promise
  }
  return { connect, close: () => agent.destroy() }
}

class RefusedAddress extends Error {}

function isRefusal(error: Error): boolean {
  return error instanceof RefusedAddress
}

function refuse(address: string, host: string): void {
  if (refused.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'))
    throw badRequest(`the registry ${host} lies at an address that is not allowed`)
}

function guardedLookup(host: string): LookupFunction {
  return (name, options, done) =>
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      const bad = addresses.find(({ address, family }) =>
        refused.check(address, family === 6 ? 'ipv6' : 'ipv4'),
      )
      if (bad)
        return done(new RefusedAddress(`the registry ${host} lies at an address that is not allowed`), [])
      const [first] = addresses
      if (options.all === true || first === undefined) return done(null, addresses)
      done(null, first.address, first.family)
    })
}

async function readBody(res: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of res) {
    length += chunk.length
    if (length > maxBytes) throw unavailable('the registry answered with more than is read of it')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
