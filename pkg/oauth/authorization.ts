import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'

export type AuthorizationCheck = {
  /** The caller's identity; anonymous without a credential. @throws Status 401, 503 */
  readonly authenticate: (req: IncomingMessage) => Promise<unknown> | unknown
  readonly isOurs: (token: string) => boolean
}

const clientEndpoints: ReadonlySet<string> = new Set([
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/introspect',
  '/oauth/device_authorization',
])
const loginPath = /^\/oauth\/login\/[^/]+$/

/**
 * A credential that is broken is never taken for none, on public documents neither. Where clients authenticate it is theirs
 * (HTTP Basic); at the token endpoint it may also be a token of ours: consoles send the refresh token along that they
 * exchange, which may have expired. It gives no right there, so nothing of it is asked.
 */
export function requireSoundAuthorization({ authenticate, isOurs }: AuthorizationCheck): RequestHandler {
  return async (req, _res, next) => {
    const [header, ...more] = req.headersDistinct.authorization ?? []
    const path = `${req.baseUrl}${req.path}`
    if (more.length === 0 && (clientEndpoints.has(path) || loginPath.test(path))) {
      const [scheme = '', token = ''] = (header ?? '').split(/ +/)
      if (/^basic$/i.test(scheme)) return next()
      if (path === '/oauth/token' && /^bearer$/i.test(scheme) && isOurs(token)) return next()
    }
    await authenticate(req)
    next()
  }
}
