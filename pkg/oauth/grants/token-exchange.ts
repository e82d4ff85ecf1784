import { printable } from '../../apierrors/printable.ts'
import { readScope } from '../../jwt/online-audience.ts'
import { invalidRequest, oauthError } from '../server/error.ts'
import { type Form, requireParameter } from '../server/form.ts'
import type { Grant } from '../tokens/grant.ts'
import { issueAccessToken } from '../tokens/issue-access-token.ts'
import { lifetimesOf } from '../tokens/lifetimes.ts'
import { exchangeScope } from '../tokens/scope.ts'

const accessToken = 'urn:ietf:params:oauth:token-type:access_token'
const jwt = 'urn:ietf:params:oauth:token-type:jwt'
const idToken = 'urn:ietf:params:oauth:token-type:id_token'
const subjectTypes = [accessToken, jwt, idToken]
const requestedTypes = [accessToken, jwt]

/**
 * Token exchange (RFC 8693): exchanges a token of a service account, another issuer or a user for
 * an access token of Kapis with less scope, audience and lifetime. A policy of the configuration
 * decides which tokens clients may exchange, and for which user.
 */
export const tokenExchangeGrant: Grant = {
  grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
  async handle(tools, { client, form }) {
    const token = requireParameter(form, 'subject_token')
    requireOneOf(subjectTypes, 'subject_token_type', requireParameter(form, 'subject_token_type'))
    // The tokens are access tokens and JWTs, so the response names the requested type.
    const issuedType = form.get('requested_token_type') ?? accessToken
    requireOneOf(requestedTypes, 'requested_token_type', issuedType)
    for (const name of ['actor_token', 'actor_token_type'])
      if (form.has(name)) throw invalidRequest(`the parameter ${name} is not supported`)
    const found = await tools.subjectTokens.find(client, token)
    const { policy, user, subject, login, expiresAt } = found
    const requested = form.get('scope')
    const scope = exchangeScope(requested, client, {
      granted: found.scope,
      mustBeRead: policy.scope === readScope,
    })
    const audience = findAudience(form, policy.audiences, tools.subjectTokens.audience)
    const { accessTokenSeconds } = lifetimesOf(client, tools.lifetimes)
    const lifeSeconds = Math.min(
      policy.maxSeconds,
      accessTokenSeconds,
      // A NumericDate may have a fraction, and expires_in must not.
      Math.floor(expiresAt) - Math.ceil(Date.now() / 1000),
    )
    if (lifeSeconds <= 0) throw invalidRequest('the subject token has expired')
    const { issued } = await issueAccessToken(tools, {
      user,
      type: 'TokenExchange',
      clientId: client.name,
      scope,
      lifeSeconds,
      displayName: policy.name,
      isLive: true,
      ...(audience === tools.subjectTokens.audience ? {} : { audience }),
      ...(login === undefined ? {} : { login, parent: login.sid }),
    })
    const response = {
      access_token: issued.token,
      issued_token_type: issuedType,
      token_type: 'Bearer',
      expires_in: lifeSeconds,
      ...(requested === scope || (requested === undefined && scope === '') ? {} : { scope }),
    } as const
    return { user: user.name, subject, policy: policy.name, response }
  },
}

/** Returns the requested audience. @throws Status invalid_target (RFC 8693 section 2.2.2) */
function findAudience(form: Form, allowed: readonly string[], own: string): string {
  const named = [form.get('audience'), form.get('resource')].filter(name => name !== undefined)
  const supported = allowed.length === 0 ? [own] : allowed
  const [audience = own] = named
  if (new Set(named).size > 1 || !supported.includes(audience))
    throw oauthError(
      400,
      'invalid_target',
      `invalid audience; supported: ${supported.map(printable).join(', ')}`,
    )
  return audience
}

function requireOneOf(supported: readonly string[], name: string, value: string): void {
  if (!supported.includes(value))
    throw invalidRequest(`invalid parameter ${name}; supported: ${supported.join(', ')}`)
}
