import { randomUUID } from 'node:crypto'
import { oauthError } from '../error.ts'
import type { Grant } from '../grant.ts'
import { assertMayLogIn } from '../user-state.ts'

/** RFC 6749 section 4.3: user name or e-mail address, and password. */
export const passwordGrant: Grant = {
  grantType: 'password',
  async handle(tools, { client, form }) {
    const user = tools.users.find(form.get('username') ?? '')
    // One answer, in one time, whether the user is unknown, has no password or gave a wrong one.
    const isRight = await tools.hasher.verify(form.get('password') ?? '', user?.passwordHash)
    if (!isRight || user === undefined) throw oauthError(400, 'invalid_grant', 'incorrect password')
    assertMayLogIn(user)

    const sid = randomUUID()
    const scope = form.get('scope') ?? ''
    const subject = { username: user.name, groups: user.groups, sid, clientId: client.name, scope }
    const [access, refresh] = await Promise.all([
      tools.issuer.access(subject, tools.accessTokenSeconds),
      tools.issuer.refresh(subject, tools.refreshTokenSeconds),
    ])
    // Kept before it is given out: a token whose login is not known could never be ended.
    await tools.sessions.create({
      sid,
      user: user.name,
      clientId: client.name,
      scope,
      refreshId: refresh.jti,
      previousRefreshId: '',
      rotatedAtMs: Date.now(),
      expiresAtMs: refresh.expiresAt * 1000,
      ended: '',
    })
    return {
      access_token: access.token,
      token_type: 'Bearer',
      refresh_token: refresh.token,
      expires_in: tools.accessTokenSeconds,
    }
  },
}
