import { BlockList, isIP, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

type Env = Readonly<Record<string, string | undefined>>
/**
 * Returns whether a host is reached without a proxy. `ip` is true for an IP address.
 */
type Matcher = (host: string, port: string, ip: boolean) => boolean
/** Returns the proxy for a URL; undefined for a direct connection. */
export type ProxyFor = (url: URL) => URL | undefined

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }
const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in upper or lower case, like Go and kubectl
 * (golang.org/x/net/http/httpproxy). The scheme of the URL selects the proxy. NO_PROXY contains
 * host names (including subdomains), `.domain` and `*.domain` (only subdomains), addresses and
 * CIDRs, all but CIDRs with an optional port, or `*`. Loopback hosts are never proxied.
 *
 * @throws Error for an invalid proxy URL
 */
export function readProxyEnvironment(env: Env): ProxyFor {
  const either = (name: string) => env[name] || env[name.toLowerCase()] || ''
  const https = parseProxy('HTTPS_PROXY', either('HTTPS_PROXY'))
  const http = parseProxy('HTTP_PROXY', either('HTTP_PROXY'))
  const matchers = parseNoProxy(either('NO_PROXY'))
  return url => {
    // In a CGI program, HTTP_PROXY is the Proxy header of the caller and must be ignored
    // (golang.org/s/cgihttpproxy).
    const proxy = url.protocol === 'https:' ? https : env.REQUEST_METHOD ? undefined : http
    return proxy !== undefined && isProxied(url, matchers) ? proxy : undefined
  }
}

/** Returns the proxy URL for a connection to one server. @throws Error for an unsupported proxy */
export function readHttpProxy(
  server: URL,
  proxyFor: ProxyFor = readProxyEnvironment(process.env),
): URL | undefined {
  const proxy = proxyFor(server)
  if (proxy !== undefined && !/^https?:$/.test(proxy.protocol))
    throw new Error(`SOCKS proxies are not supported for ${server.host}: set NO_PROXY`)
  return proxy
}

/** Returns whether a host is this machine: `localhost` or a loopback address. */
export function isLoopback(hostname: string): boolean {
  const host = withoutBrackets(hostname)
  return host === 'localhost' || (isIP(host) !== 0 && isInside(loopback, host))
}

function isProxied(url: URL, matchers: readonly Matcher[]): boolean {
  if (isLoopback(url.hostname)) return false
  const host = withoutBrackets(url.hostname).toLowerCase()
  const port = url.port || (defaultPorts[url.protocol] ?? '')
  return !matchers.some(matches => matches(host, port, isIP(host) !== 0))
}

function parseProxy(name: string, proxyText: string): URL | undefined {
  const text = proxyText.trim()
  if (text === '') return undefined
  const url = /^[a-z][\w+.-]*:\/\//i.test(text) ? text : `http://${text}`
  // The message does not quote the URL, which may contain a password.
  if (!URL.canParse(url)) throw new Error(`invalid ${name}: expected a URL or host:port`)
  const { protocol, host, username, password } = new URL(url)
  if (!/^(https?|socks5h?):$/.test(protocol))
    throw new Error(`invalid ${name}: unknown scheme ${protocol}; supported: http, https, socks5, socks5h`)
  if (!isEncoded(username) || !isEncoded(password))
    throw new Error(`invalid ${name}: the user name and password must be percent-encoded`)
  // Only the origin and the credentials count, as in Go. The proxy resolves names with both schemes
  // of SOCKS 5.
  const proxy = new URL(`${protocol.replace('socks5h', 'socks5')}//${host}`)
  proxy.username = username
  proxy.password = password
  return proxy
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

function parseNoProxy(text: string): readonly Matcher[] {
  const entries = text
    .split(',')
    .map(entry => entry.trim().toLowerCase())
    .filter(Boolean)
  if (entries.includes('*')) return [() => true]
  return entries.flatMap(entry => toMatcher(entry) ?? [])
}

function toMatcher(entry: string): Matcher | undefined {
  const block = toBlock(entry)
  if (block !== undefined) return (host, _port, ip) => ip && isInside(block, host)
  const [, bracketed, named, wantedPort = ''] =
    /^(?:\[([^\]]*)\](?=:)|([^:[]*))(?::(\d*))?$/.exec(entry) ?? []
  const name = bracketed ?? named ?? entry
  const isPort = (port: string) => wantedPort === '' || port === wantedPort
  if (isIP(name) !== 0) {
    const address = new BlockList()
    address.addAddress(name, isIPv6(name) ? 'ipv6' : 'ipv4')
    return (host, port, ip) => ip && isInside(address, host) && isPort(port)
  }
  // domainToASCII would only read the part before these characters.
  if (/[\s/?#@\\]/.test(name)) return undefined
  const ascii = domainToASCII(name.replace(/^\*?\./, ''))
  if (ascii === '') return undefined
  const isDomainOnly = /^\*?\./.test(name)
  return (host, port, ip) =>
    !ip && (host.endsWith(`.${ascii}`) || (!isDomainOnly && host === ascii)) && isPort(port)
}

function toBlock(entry: string): BlockList | undefined {
  const [, address = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? []
  const family = isIP(address)
  if (family === 0 || Number(bits) > (family === 6 ? 128 : 32)) return undefined
  const block = new BlockList()
  block.addSubnet(address, Number(bits), family === 6 ? 'ipv6' : 'ipv4')
  return block
}

function isInside(block: BlockList, host: string): boolean {
  return block.check(host, isIPv6(host) ? 'ipv6' : 'ipv4')
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}
