import type { IncomingMessage } from 'node:http'

/** Header lines in wire format: name, value, name, value. Order and duplicates are preserved. */
export type HeaderLines = readonly string[]

// RFC 9110 section 7.6.1, and older hop-by-hop headers that some clients still send.
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

// Headers that contain an identity or the route through a proxy: only the proxy may set them, never
// its caller. Underscores are matched too: CGI and WSGI servers treat them like hyphens.
const reserved =
  /^(x[-_]remote[-_]|impersonate[-_]|x[-_]forwarded[-_]|forwarded$|x[-_]real[-_]ip$|x[-_]client[-_]ip$|x[-_]kapis[-_])/

/**
 * Returns the headers of the caller to forward: without hop-by-hop headers, and without headers
 * that claim an identity or address. Headers that Connection names are removed too. Credentials are
 * an exception, so that callers cannot remove headers that the upstream server relies on.
 *
 * @param without names of more headers to remove, in lower case
 */
export function forwardableHeaders(
  req: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  without: ReadonlySet<string>,
): string[] {
  const { rawHeaders } = req
  const named = connectionMembers(req.headers.connection)
  const lines: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    const lower = name.toLowerCase()
    if (hopByHop.has(lower) || without.has(lower) || reserved.test(lower)) continue
    if (named.has(lower) && lower !== 'authorization') continue
    lines.push(name, rawHeaders[i + 1] ?? '')
  }
  return lines
}

/** Returns response headers except hop-by-hop ones. @param without more names, in lower case */
export function forwardableResponseHeaders(raw: HeaderLines, without: ReadonlySet<string>): string[] {
  return withoutHeaders(raw, name => hopByHop.has(name) || without.has(name))
}

/** @param isRemoved is called with each name in lower case */
export function withoutHeaders(raw: HeaderLines, isRemoved: (name: string) => boolean): string[] {
  const lines: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    if (!isRemoved(name.toLowerCase())) lines.push(name, raw[i + 1] ?? '')
  }
  return lines
}

const nothing: ReadonlySet<string> = new Set()

function connectionMembers(connection: string | undefined): ReadonlySet<string> {
  // Fast path: nearly all requests have only this value.
  if (connection === undefined || connection === 'keep-alive') return nothing
  return new Set(
    connection
      .toLowerCase()
      .split(',')
      .map(name => name.trim()),
  )
}
