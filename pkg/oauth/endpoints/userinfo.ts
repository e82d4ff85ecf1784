import type { RequestHandler } from 'express'
import type { User } from '../../iam/user.ts'
import { Status } from '../../status/status.ts'
import { audited } from '../audited.ts'
import { Refusal } from '../error.ts'
import { readCaller } from '../standing.ts'
import type { EndpointOptions } from './options.ts'

/**
 * GET and POST /oauth/userinfo (OpenID Connect Core section 5.3), with the access token as bearer. A login of OpenID Connect
 * shows what its scope names (section 5.4); one of the platform's own, which has none, shows everything.
 */
export function createUserinfo({ tools, audit }: EndpointOptions): RequestHandler {
  return audited(audit, 'userinfo', async (req, res, event) => {
    const caller = await readCaller(tools, req)
    if (caller === undefined) throw loginRequired()
    const { user, claims } = caller
    Object.assign(event, { user: user.name, client: claims.clientId, sid: claims.sid })
    const scopes = claims.scope.split(' ')
    const shows = (scope: string) => !scopes.includes('openid') || scopes.includes(scope)
    res.set({ 'cache-control': 'no-store', pragma: 'no-cache' })
    res.json({
      sub: user.name,
      ...(shows('profile') ? profileOf(user) : {}),
      ...(shows('email') ? present({ email: user.email }) : {}),
    })
  })
}

/** The claims of the scope `profile`. */
function profileOf({ name, displayName, lang }: User): object {
  return present({ name: displayName, locale: lang, preferred_username: name })
}

function present(claims: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== ''))
}

/** RFC 6750 section 3: without a credential the challenge says no more than which kind is wanted. */
export function loginRequired(): Status {
  return new Status(401, 'login_required', '', {
    headers: { 'www-authenticate': 'Bearer realm="kapis"' },
    cause: new Refusal('no_token'),
  })
}
