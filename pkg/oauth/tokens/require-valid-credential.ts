import type { IncomingMessage } from 'node:http'
import type { Request, RequestHandler } from 'express'
import { isBasic } from '../../authn/basic-credential.ts'

export type AuthorizationCheck = {
  /** The caller's identity; anonymous without a credential. @throws Status 401, 503 */
  readonly authenticate: (req: IncomingMessage) => Promise<unknown> | unknown
}

/**
 * For endpoints that require authentication: an invalid credential is rejected and never treated as
 * missing. Other endpoints ignore credentials that they do not need, since consoles may still send
 * the token of another issuer: documents are public, clients authenticate themselves, and browsers
 * have cookies.
 */
export function requireValidCredential({ authenticate }: AuthorizationCheck): RequestHandler {
  return async (req, _res, next) => {
    const [header = '', ...more] = req.headersDistinct.authorization ?? []
    if (more.length > 0 || !(isBasic(header) && takesPassword(req))) await authenticate(req)
    next()
  }
}

/**
 * Whether the endpoint also accepts the password of a user by HTTP Basic, for programs that only
 * read. OpenID Connect defines the POST form for the access token.
 */
function takesPassword({ baseUrl, method }: Request): boolean {
  return baseUrl === '/oauth/userinfo' && (method === 'GET' || method === 'HEAD')
}
