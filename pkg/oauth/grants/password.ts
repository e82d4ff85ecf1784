import type { Grant } from '../grant.ts'
import { beginLogin } from '../login.ts'
import { grantScope } from '../scope.ts'
import { assertMayStay } from '../user-state.ts'
import { requireRight } from '../verdict.ts'

/** RFC 6749 section 4.3: user name or e-mail address, and password. */
export const passwordGrant: Grant = {
  grantType: 'password',
  async handle(tools, { client, form, source, signal }) {
    // A malformed request is told so before it costs a hash.
    grantScope(form.get('scope'), client)
    const login = form.get('username') ?? ''
    const verdict = await tools.passwords.check({
      login,
      password: form.get('password') ?? '',
      source,
      signal,
    })
    const user = requireRight(verdict)
    assertMayStay(user)
    return beginLogin(tools, { user, client, provider: '', form, source })
  },
}
