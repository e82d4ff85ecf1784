import type { RequestHandler, Response } from 'express'
import type { ClientConfig } from '../../config/sections/client.ts'
import { isSameExceptPort } from '../authorize/redirect-uri.ts'
import type { ClientRegistry } from '../client.ts'

// How long browsers may cache a preflight response, in seconds.
const anyOriginMaxAge = 86_400
// Shorter, since the origins of a client may be changed or removed.
const clientOriginMaxAge = 600

/** CORS for public documents: any page may read them, without credentials. */
export const allowAnyOrigin: RequestHandler = (req, res, next) => {
  res.set('access-control-allow-origin', '*')
  if (!isPreflight(req.method, req.headers['access-control-request-method'])) return next()
  // Listed separately: the wildcard does not include Authorization, which pages may send although
  // no credential is needed.
  sendPreflight(res, { methods: 'GET, HEAD', headers: '*, Authorization', maxAge: anyOriginMaxAge })
}

/**
 * CORS for endpoints that browser-based clients call: pages of a client may read the responses.
 * Cookies are not sent, so a page can do no more than any server. The authorization endpoint and
 * the pages have no CORS (RFC 9700 section 2.6).
 */
export function allowClientOrigins(registry: ClientRegistry, methods: string): RequestHandler {
  return (req, res, next) => {
    res.vary('Origin')
    const { origin } = req.headers
    if (origin === undefined || ![...registry.all()].some(({ client }) => isOriginOf(client, origin)))
      return next()
    res.set({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'WWW-Authenticate, Retry-After, X-Request-Id',
    })
    if (!isPreflight(req.method, req.headers['access-control-request-method'])) return next()
    sendPreflight(res, { methods, headers: 'Authorization, Content-Type', maxAge: clientOriginMaxAge })
  }
}

/**
 * Reports whether an origin belongs to a client: an allowed origin, or for public clients the
 * origin of a redirect URI. The port may differ where the authorization endpoint allows any port.
 */
function isOriginOf(
  { public: isPublic, allowedOrigins, redirectURIs }: ClientConfig,
  origin: string,
): boolean {
  if (allowedOrigins.includes(origin)) return true
  const origins = isPublic ? redirectURIs.map(uri => new URL(uri).origin) : []
  // The origin of a custom URI scheme is `null`, which is also the origin of every sandboxed frame.
  return origin !== 'null' && origins.some(own => own === origin || isSameExceptPort(own, origin))
}

function isPreflight(method: string, requested: string | undefined): boolean {
  return method === 'OPTIONS' && requested !== undefined
}

function sendPreflight(
  res: Response,
  { methods, headers, maxAge }: { methods: string; headers: string; maxAge: number },
): void {
  res.set({
    'access-control-allow-methods': methods,
    'access-control-allow-headers': headers,
    'access-control-max-age': String(maxAge),
  })
  res.status(204).end()
}
