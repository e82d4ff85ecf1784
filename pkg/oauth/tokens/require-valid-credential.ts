import type { IncomingMessage } from 'node:http'
import type { Request, RequestHandler } from 'express'
import { isBasic } from '../../authn/basic-credential.ts'

export type AuthorizationCheck = {
  /** Returns the identity of the caller; anonymous without a credential. @throws Status 401, 503 */
  readonly authenticate: (req: IncomingMessage) => Promise<unknown> | unknown
}

/**
 * Rejects invalid credentials, for endpoints that require authentication: an invalid credential is
 * never treated as missing. Other endpoints ignore credentials that they do not need, since
 * consoles may still send the token of another issuer. Those serve public documents, authenticate
 * clients, or use cookies.
 */
export function requireValidCredential({ authenticate }: AuthorizationCheck): RequestHandler {
  return async (req, _res, next) => {
    const [header = '', ...more] = req.headersDistinct.authorization ?? []
    if (more.length > 0 || !(isBasic(header) && takesPassword(req))) await authenticate(req)
    next()
  }
}

/**
 * Reports whether the endpoint also accepts a password by HTTP Basic, for programs that only read.
 * A POST has the access token in its form, as OpenID Connect defines it.
 */
function takesPassword({ baseUrl, method }: Request): boolean {
  return baseUrl === '/oauth/userinfo' && (method === 'GET' || method === 'HEAD')
}
