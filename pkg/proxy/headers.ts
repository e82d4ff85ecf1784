import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'

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

// Names that carry an identity or a route behind a proxy: only the proxy may say them, never its caller.
const reserved = /^(x-remote-|impersonate-|x-forwarded-|forwarded$|x-real-ip$|x-client-ip$|x-kapis-)/

/**
 * The caller's headers as they may go on: without those of this hop, and without those in which a caller could claim an
 * identity or an address. Members that the Connection header names are dropped as well, credentials excepted, so that it
 * cannot be used to take away what the upstream relies on.
 */
export function forwardableHeaders(req: IncomingMessage): OutgoingHttpHeaders {
  const named = new Set(
    String(req.headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map(name => name.trim()),
  )
  const headers: OutgoingHttpHeaders = {}
  for (const [name, values] of Object.entries(req.headersDistinct)) {
    if (hopByHop.has(name) || reserved.test(name) || (named.has(name) && name !== 'authorization')) continue
    // Repeats are refused by the receiver where they matter; they are passed on as they came.
    headers[name] = values?.length === 1 ? values[0] : values
  }
  return headers
}

/** An upstream's headers without those of its own hop. */
export function answerHeaders(res: IncomingMessage): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  for (const [name, values] of Object.entries(res.headersDistinct)) {
    if (!hopByHop.has(name)) headers[name] = values?.length === 1 ? values[0] : values
  }
  return headers
}
