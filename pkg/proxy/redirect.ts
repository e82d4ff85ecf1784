import type { IncomingHttpHeaders } from 'node:http'
import { Status } from '../apierrors/status.ts'
import type { HeaderLines } from './headers.ts'

type Caller = { readonly headers: Pick<IncomingHttpHeaders, 'host'>; readonly socket: object }

/**
 * Rejects redirects of a component to another host: kubectl and client-go would send their
 * credentials there (CVE-2022-3172). Redirects within kapis-apiserver are passed on.
 *
 * @param upstream name of the component in the message
 * @returns a function of the response headers that returns an error, or undefined if they are valid
 */
export function rejectRedirect(upstream: string, { headers, socket }: Caller) {
  const scheme = 'encrypted' in socket ? 'https' : 'http'
  const ownOrigin = headers.host === undefined ? null : URL.parse(`${scheme}://${headers.host}`)
  return (code: number, lines: HeaderLines): Status | undefined => {
    if (code < 300 || code > 399) return undefined
    const at = lines.findIndex((line, i) => i % 2 === 0 && line.toLowerCase() === 'location')
    if (at < 0 || staysAt(ownOrigin, lines[at + 1] ?? '')) return undefined
    const message = `${upstream} redirects to another host, which is not permitted`
    return new Status(502, 'ServiceUnavailable', message, {
      headers: { 'proxy-status': 'kapis; error=http_protocol_error' },
    })
  }
}

/** Reports whether a redirect stays on this host, as browsers parse it (WHATWG URL). */
function staysAt(ownOrigin: URL | null, location: string): boolean {
  const target = ownOrigin === null ? null : URL.parse(location, ownOrigin.href)
  return ownOrigin !== null && target !== null && target.origin === ownOrigin.origin
}
