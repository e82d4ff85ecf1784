import type { IncomingMessage } from 'node:http'
import { strippedHeader } from '../httpserver/request/stripped-header.ts'
import { splitSubprotocols } from '../httpserver/websocket/handshake.ts'

/** Reports whether a header is an identity header; fast, as every header is tested. */
function isIdentity(name: string): boolean {
  const first = name[0]
  if (first === 'A' || first === 'a') return name.length === 13 && name.toLowerCase() === 'authorization'
  // CGI and WSGI map X-Remote-User and X_Remote_User to the same variable, so both are removed.
  return (first === 'X' || first === 'x') && /^x[-_]remote[-_]/i.test(name)
}

function isProtocol(name: string): boolean {
  return name.length === 22 && name.toLowerCase() === 'sec-websocket-protocol'
}

/** Removes the credential and all identity headers, so that no handler can log them. */
export function stripCredentials(req: IncomingMessage): void {
  const { rawHeaders } = req
  let isStripped = false
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (isIdentity(name)) {
      // Set to undefined, not deleted: a deletion makes later accesses to the headers slow.
      req.headers[name.toLowerCase()] = undefined
      replace(rawHeaders, i)
    } else if (isProtocol(name)) replace(rawHeaders, i, withoutBearers(rawHeaders[i + 1]))
    else continue
    isStripped = true
  }
  if (!isStripped) return
  const { 'sec-websocket-protocol': protocols } = req.headers
  if (protocols !== undefined) req.headers['sec-websocket-protocol'] = withoutBearers(protocols)
  // Node.js computes headersDistinct on first access, so it could still have the credentials.
  Object.assign(req, { headersDistinct: undefined })
}

function replace(rawHeaders: string[], at: number, value?: string): void {
  if (value === undefined) rawHeaders[at] = strippedHeader
  rawHeaders[at + 1] = value ?? ''
}

/** Returns the subprotocols except tokens; undefined if none is left. */
function withoutBearers(protocols: string | undefined): string | undefined {
  const { offered } = splitSubprotocols(protocols)
  return offered.length === 0 ? undefined : offered.join(', ')
}
