import type { IncomingMessage } from 'node:http'

/** Header lines as they go on the wire: name, value, name, value. Repeats and order stay as they came. */
export type HeaderLines = readonly string[]

// RFC 9110 section 7.6.1, and the older ones that some clients still send.
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

// Names that carry an identity or a route behind a proxy: only the proxy may say them, never its caller. With underscores they are
// the same to servers that make variables of them (CGI, WSGI).
const reserved =
  /^(x[-_]remote[-_]|impersonate[-_]|x[-_]forwarded[-_]|forwarded$|x[-_]real[-_]ip$|x[-_]client[-_]ip$|x[-_]kapis[-_])/

/**
 * The caller's headers as they may go on: without those of this hop, and without those in which a caller could claim an
 * identity or an address. Members that the Connection header names are dropped as well, credentials excepted, so that it
 * cannot be used to take away what the upstream relies on.
 *
 * @param without further names, in lower case, that the next hop must not see
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

/** An upstream's headers without those of its own hop, and without `without` (lower case). */
export function answerHeaders(raw: HeaderLines, without: ReadonlySet<string>): string[] {
  const lines: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    const lower = name.toLowerCase()
    if (!hopByHop.has(lower) && !without.has(lower)) lines.push(name, raw[i + 1] ?? '')
  }
  return lines
}

const nothing: ReadonlySet<string> = new Set()

function connectionMembers(connection: string | undefined): ReadonlySet<string> {
  // Nearly all requests say nothing else.
  if (connection === undefined || connection === 'keep-alive') return nothing
  return new Set(
    connection
      .toLowerCase()
      .split(',')
      .map(name => name.trim()),
  )
}
