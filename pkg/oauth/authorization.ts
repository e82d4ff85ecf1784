import type { IncomingMessage } from 'node:http'
import type { Request, RequestHandler } from 'express'
import { isBasic } from '../authn/basic-credential.ts'

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
 * exchange, which may have expired. It gives no right there, so nothing of it is asked. Reading userinfo takes the password
 * of a user, who is judged there.
 */
export function requireSoundAuthorization(check: AuthorizationCheck): RequestHandler {
  return async (req, _res, next) => {
    const [header = '', ...more] = req.headersDistinct.authorization ?? []
    if (more.length > 0 || !isForEndpoint(check, req, header)) await check.authenticate(req)
    next()
  }
}

/** Whether the endpoint itself judges the credential. */
function isForEndpoint({ isOurs }: AuthorizationCheck, req: Request, header: string): boolean {
  const path = `${req.baseUrl}${req.path}`
  if (isBasic(header)) return clientEndpoints.has(path) || loginPath.test(path) || takesPassword(req, path)
  const [, token] = /^bearer +(.*)$/i.exec(header) ?? []
  return path === '/oauth/token' && token !== undefined && isOurs(token)
}

/** OpenID Connect has the form of a POST for the access token; the password is for programs that read. */
function takesPassword({ method }: Request, path: string): boolean {
  return path === '/oauth/userinfo' && (method === 'GET' || method === 'HEAD')
}
