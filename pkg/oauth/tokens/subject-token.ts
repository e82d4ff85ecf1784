import { printable } from '../../apierrors/printable.ts'
import type { Status } from '../../apierrors/status.ts'
import type { ExchangePolicy } from '../../config/sections/token-exchange.ts'
import type { FactorService } from '../../iam/factors/factor-service.ts'
import type { Session } from '../../iam/sessions/session.ts'
import type { User } from '../../iam/users/user.ts'
import { assertPasswordIsOwn, assertUserEnabled } from '../check-user-state.ts'
import { assertSecondFactor } from '../second-factor.ts'
import { invalidGrant, invalidRequest, oauthError } from '../server/error.ts'
import type { ExchangeableToken, SubjectTokens } from './exchangeable-token.ts'
import { createForeignToken, type ForeignTokenOptions } from './foreign-token.ts'
import { type TokenValidator, validateAccessToken } from './token-validation.ts'

export type SubjectTokenOptions = ForeignTokenOptions & {
  readonly policies: readonly ExchangePolicy[]
  readonly audience: string
}

type Tools = TokenValidator & {
  readonly sessions: { readonly read: (sid: string) => Promise<Session | undefined> }
  readonly factors: Pick<FactorService, 'isRequired'>
}

/**
 * Creates the verifier of subject tokens (RFC 8693 section 2.1). The first policy that names the
 * client and matches the source, issuer, audience, subject and claims of the token decides.
 */
export function createSubjectTokens(
  tools: Tools,
  { policies, audience, ...options }: SubjectTokenOptions,
): SubjectTokens {
  async function ofUser(own: readonly ExchangePolicy[], token: string): Promise<ExchangeableToken> {
    const standing = await validateAccessToken(tools, token)
    if (standing === undefined) throw invalid('the subject token is invalid, expired or revoked')
    const { claims, user } = standing
    const session = await tools.sessions.read(claims.sid)
    if (session === undefined || session.ended !== '') throw invalid('the login has ended')
    if (session.type === 'TokenExchange') throw invalid('an exchanged token cannot be exchanged again')
    assertPasswordIsOwn(user)
    if (session.type === '') assertSecondFactor(tools.factors, user, session.amr)
    const policy = own.find(each => each.source === 'User' && isFor(each, user.name))
    if (policy === undefined) throw noPolicy(user.name)
    return { policy, user, subject: user.name, login: session, expiresAt: claims.exp, scope: claims.scope }
  }

  async function ofOther(own: readonly ExchangePolicy[], token: string): Promise<ExchangeableToken> {
    const foreign = createForeignToken(token, options)
    let known: string | undefined
    for (const policy of own) {
      // If a policy cannot be checked, this throws: the policy might match, so later policies must
      // not decide.
      const verified = await foreign.verifiedFor(policy)
      if (verified === undefined) continue
      const { subject, expiresAt, claims } = verified
      const actor = ['act', 'may_act'].find(name => claims[name] !== undefined)
      if (actor !== undefined)
        throw invalid(`the subject token has the claim ${actor}: actors are not supported`)
      if (isFor(policy, subject) && hasClaims(policy, claims))
        return { policy, user: requireUser(policy), subject, expiresAt, login: undefined, scope: undefined }
      known = subject
    }
    throw known === undefined ? invalid(foreign.problem()) : noPolicy(known)
  }

  function requireUser({ user: name = '' }: ExchangePolicy): User {
    const user = tools.users.get(name)
    if (user === undefined)
      throw invalidGrant('the user of the policy does not exist', { why: 'unknown_user' })
    assertUserEnabled(user)
    return user
  }

  return {
    audience,
    async find(client, token) {
      const own = policies.filter(({ clients }) => clients.includes(client.name))
      if (own.length === 0)
        throw oauthError(400, 'unauthorized_client', 'no policy of token exchange allows this client')
      return tools.verifier.isOurs(token) ? ofUser(own, token) : ofOther(own, token)
    },
  }
}

function isFor({ subjects }: ExchangePolicy, subject: string): boolean {
  return subjects.length === 0 || subjects.includes(subject)
}

function hasClaims({ claims: required }: ExchangePolicy, claims: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(required).every(([name, value]) => {
    const claim = Object.hasOwn(claims, name) ? claims[name] : undefined
    return ['string', 'number', 'boolean'].includes(typeof claim) && String(claim) === value
  })
}

/** The error for a subject token that no policy accepts (RFC 8693 section 2.2.2). */
function invalid(description: string): Status {
  return invalidRequest(description, { why: 'invalid_subject_token' })
}

function noPolicy(subject: string): Status {
  const description = `no policy accepts the subject token of ${printable(subject)}`
  return invalidRequest(description, { why: 'no_policy' })
}
