import type { IncomingMessage } from 'node:http'
import type { Request, RequestHandler } from 'express'
import { isBasic } from '../../authn/basic-credential.ts'

export type AuthorizationCheck = {
  /** The caller's identity; anonymous without a credential. @throws Status 401, 503 */
  readonly authenticate: (req: IncomingMessage) => Promise<unknown> | unknown
}

/**
 * For the endpoints where a token gives rights: a credential that is not good is refused, and never
 * taken for none. Every other endpoint ignores a credential that it has no use for, as a console may
 * still send the token of another issuer: documents are public, clients authenticate for themselves,
 * and browsers have cookies.
 */
export function requireGoodCredential({ authenticate }: AuthorizationCheck): RequestHandler {
  return async (req, _res, next) => {
    const [header = '', ...more] = req.headersDistinct.authorization ?? []
    if (more.length > 0 || !(isBasic(header) && takesPassword(req))) await authenticate(req)
    next()
  }
}

/**
 * Whether the endpoint itself verifies the password of a user. OpenID Connect has the form of a POST
 * for the access token; the password is for programs that read.
 */
function takesPassword({ baseUrl, method }: Request): boolean {
  return baseUrl === '/oauth/userinfo' && (method === 'GET' || method === 'HEAD')
}
