import type { Request, RequestHandler } from 'express'
import { unauthorized } from '../../apierrors/status.ts'
import type { User } from '../../iam/users/user.ts'
import { present, userClaims } from '../../jwt/user-claims.ts'
import { loginRequired } from '../login-required.ts'
import { invalidRequest, RejectionCause } from '../server/error.ts'
import { readForm } from '../server/form.ts'
import { withAudit } from '../server/with-audit.ts'
import type { GrantTools } from '../tokens/grant.ts'
import { readCaller, type ValidToken, validateAccessToken } from '../tokens/token-validation.ts'
import type { EndpointOptions } from './dependencies.ts'
import { readPasswordCaller } from './password-caller.ts'

/**
 * GET and POST /oauth/userinfo (OpenID Connect Core section 5.3). The access token is a bearer
 * token, or in the form of a POST (RFC 6750 section 2.2); HTTP Basic works too. A login with scope
 * openid gets the claims of its scope (section 5.4), other logins those of KubeSphere 3.4.
 */
export function createUserinfo({ tools, audit }: EndpointOptions): RequestHandler {
  return withAudit(audit, 'userinfo', async (req, res, event) => {
    const caller =
      (await readPasswordCaller(tools, { req, res })) ??
      (await readFormCaller(tools, req)) ??
      (await readCaller(tools, req))
    if (caller === undefined) throw loginRequired()
    const { user, claims } = caller
    Object.assign(event, { user: user.name, client: claims?.clientId, sid: claims?.sid })
    const scopes = claims?.scope.split(' ') ?? []
    res.set({ 'cache-control': 'no-store', pragma: 'no-cache' })
    res.json({
      sub: user.name,
      ...(scopes.includes('openid') ? openIdClaims(user, scopes) : plainClaims(user)),
    })
  })
}

/**
 * Returns the caller of the access token in the form; undefined without a token. Tokens in the URL
 * are not supported, since URLs are logged (RFC 9700 section 4.3.2).
 *
 * @throws Status 400 for a token in both places (RFC 6750 section 2), 401 for an invalid token
 */
async function readFormCaller(tools: GrantTools, req: Request): Promise<ValidToken | undefined> {
  const { authorization, 'content-type': contentType } = req.headers
  // With a bearer token, other Content-Types are accepted: some programs send one without a body.
  const hasForm = req.method === 'POST' && contentType !== undefined
  if (!hasForm || (authorization !== undefined && !req.is('application/x-www-form-urlencoded')))
    return undefined
  const token = readForm(req).get('access_token')
  if (token === undefined) return undefined
  if (authorization !== undefined) throw invalidRequest('the access token is given more than once')
  const caller = await validateAccessToken(tools, token)
  if (caller === undefined) throw unauthorized(new RejectionCause('invalid_token'))
  return caller
}

function openIdClaims({ name: username, ...user }: User, scopes: readonly string[]): object {
  return userClaims({ username, ...user }, scope => scopes.includes(scope))
}

function plainClaims({ name, displayName, email, lang }: User): object {
  return present({ name: displayName, email, locale: lang, preferred_username: name })
}
