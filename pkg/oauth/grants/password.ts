import { assertUserEnabled } from '../check-user-state.ts'
import { beginLogin } from '../login.ts'
import { logInAtProvider, requireProvider } from '../provider-login.ts'
import { requireValidPassword } from '../require-valid-password.ts'
import { assertNoSecondFactor } from '../second-factor.ts'
import { requireParameter } from '../server/form.ts'
import type { Grant } from '../tokens/grant.ts'
import { grantScope } from '../tokens/scope.ts'

/**
 * The password grant (RFC 6749 section 4.3) with user name or e-mail address. The identity provider
 * `provider` checks the password if the form names one.
 */
export const passwordGrant: Grant = {
  grantType: 'password',
  async handle(tools, { client, form, source, signal }) {
    // Validated first: a malformed request should not cost a password hash.
    grantScope(form.get('scope'), client)
    const username = requireParameter(form, 'username')
    const password = requireParameter(form, 'password')
    const provider = form.get('provider') ?? ''
    if (provider !== '') {
      requireProvider(tools.providers, provider, 400)
      const user = await logInAtProvider(tools, provider, { username, password, source, signal })
      await assertNoSecondFactor(tools.factors, user)
      const login = { user, client, provider, amr: 'pwd', source, requestedScope: form.get('scope') }
      return { ...(await beginLogin(tools, login)), provider }
    }
    const user = requireValidPassword(
      await tools.passwords.check({ login: username, password, source, signal }),
    )
    assertUserEnabled(user)
    await assertNoSecondFactor(tools.factors, user)
    const login = { user, client, provider, amr: 'pwd', source, requestedScope: form.get('scope') }
    return beginLogin(tools, login)
  },
}
