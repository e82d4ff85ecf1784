import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'

export type AuthorizationCheck = {
  /** The caller's identity; anonymous without a credential. @throws Status 401, 503 */
  readonly authenticate: (req: IncomingMessage) => Promise<unknown>
  readonly isOurs: (token: string) => boolean
}

/**
 * A credential that is broken is never taken for none, on public documents neither. At the token endpoint it is the
 * client's (HTTP Basic), or a token of ours: consoles send the refresh token along that they exchange, which may have
 * expired. It gives no right there, so nothing of it is asked.
 */
export function requireSoundAuthorization({ authenticate, isOurs }: AuthorizationCheck): RequestHandler {
  return async (req, _res, next) => {
    const [header, ...more] = req.headersDistinct.authorization ?? []
    if (more.length === 0 && `${req.baseUrl}${req.path}` === '/oauth/token') {
      const [scheme = '', token = ''] = (header ?? '').split(/ +/)
      if (/^basic$/i.test(scheme) || (/^bearer$/i.test(scheme) && isOurs(token))) return next()
    }
    await authenticate(req)
    next()
  }
}
