import { assertUserEnabled } from '../check-user-state.ts'
import { invalidGrant } from '../server/error.ts'
import type { Grant } from '../tokens/grant.ts'
import { issueAccessToken } from '../tokens/issue-access-token.ts'
import { lifetimesOf } from '../tokens/lifetimes.ts'
import { grantScope } from '../tokens/scope.ts'

/**
 * The client credentials grant (RFC 6749 section 4.4): the client acts as the User that its
 * registration names. There is no refresh token, since the client can request another access token.
 */
export const clientCredentialsGrant: Grant = {
  grantType: 'client_credentials',
  async handle(tools, { client, form }) {
    const requested = form.get('scope')
    const scope = grantScope(requested, client)
    const user = client.user === undefined ? undefined : tools.users.get(client.user)
    if (user === undefined)
      throw invalidGrant('the user of the client does not exist', { why: 'unknown_user' })
    assertUserEnabled(user)
    const { accessTokenSeconds } = lifetimesOf(client, tools.lifetimes)
    const { issued } = await issueAccessToken(tools, {
      user,
      type: 'ClientCredentials',
      clientId: client.name,
      scope,
      lifeSeconds: accessTokenSeconds,
    })
    const response = {
      access_token: issued.token,
      token_type: 'Bearer',
      expires_in: accessTokenSeconds,
      ...(requested === undefined || requested === scope ? {} : { scope }),
    } as const
    return { user: user.name, response }
  },
}
