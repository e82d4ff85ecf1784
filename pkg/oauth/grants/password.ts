import { oauthError } from '../error.ts'
import type { Grant } from '../grant.ts'
import { beginLogin } from '../login.ts'
import { grantScope } from '../scope.ts'
import { assertMayLogIn } from '../user-state.ts'

/** RFC 6749 section 4.3: user name or e-mail address, and password. */
export const passwordGrant: Grant = {
  grantType: 'password',
  async handle(tools, { client, form, signal }) {
    // A malformed request is told so before it costs a hash.
    grantScope(form.get('scope'), client)
    const user = tools.users.find(form.get('username') ?? '')
    // One answer, in one time, whether the user is unknown, has no password or gave a wrong one.
    const isRight = await tools.hasher.verify(form.get('password') ?? '', user?.passwordHash, signal)
    if (!isRight || user === undefined) {
      throw oauthError(400, 'invalid_grant', 'incorrect password', {
        why: user === undefined ? 'unknown_user' : 'wrong_password',
        ...(user === undefined ? {} : { user: user.name }),
      })
    }
    assertMayLogIn(user)
    return beginLogin(tools, { user, client, provider: '', form })
  },
}
