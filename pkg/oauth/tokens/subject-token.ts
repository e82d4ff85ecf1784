import { Status } from '../../apierrors/status.ts'
import type { ExchangePolicy } from '../../config/sections/token-exchange.ts'
import type { Session } from '../../iam/sessions/session.ts'
import { InvalidAssertion, readUnverified, verifyAssertion } from '../../jwt/assertion.ts'
import { isReadOnly } from '../../jwt/online-audience.ts'
import type { remoteKeys } from '../../jwt/remote-keys.ts'
import { oauthError } from '../server/error.ts'
import { printable } from '../server/form.ts'
import { assertPasswordIsOwn, assertUserEnabled } from '../user-state.ts'
import type { ExchangeableToken, SubjectTokens } from './exchangeable-token.ts'
import { type TokenJudge, validateAccessToken } from './token-validation.ts'

export type SubjectTokenOptions = {
  readonly policies: readonly ExchangePolicy[]
  readonly issuer: string
  readonly audience: string
  readonly clockSkewSeconds: number
  readonly issuerKeys: (issuer: string) => Promise<ReturnType<typeof remoteKeys>>
  /** The user name of a service account's token for an audience. @throws Status */
  readonly reviewServiceAccount: (token: string, audience: string) => Promise<string | undefined>
}

type Tools = TokenJudge & {
  readonly sessions: { readonly read: (sid: string) => Promise<Session | undefined> }
}
type Verified = {
  readonly policy: ExchangePolicy
  readonly subject: string
  readonly expiresAt: number
}

/** Verifies subject tokens (RFC 8693 section 2.1) by the first policy that matches. */
export function createSubjectTokens(
  tools: Tools,
  { policies, issuer, audience, clockSkewSeconds, issuerKeys, reviewServiceAccount }: SubjectTokenOptions,
): SubjectTokens {
  const audienceOf = ({ subjectAudience = issuer }: ExchangePolicy) => subjectAudience

  async function ofUser(own: readonly ExchangePolicy[], token: string): Promise<ExchangeableToken> {
    const standing = await validateAccessToken(tools, token)
    if (standing === undefined) throw invalid('the subject token is invalid, expired or revoked')
    const { claims, user } = standing
    const session = await tools.sessions.read(claims.sid)
    if (session === undefined || session.ended !== '') throw invalid('the login has ended')
    if (session.type === 'TokenExchange') throw invalid('an exchanged token cannot be exchanged again')
    assertPasswordIsOwn(user)
    const policy = own.find(each => each.source === 'User' && isFor(each, user.name))
    if (policy === undefined) throw noPolicy(user.name)
    return {
      ...{ policy, user, subject: user.name, login: session },
      ...{ expiresAt: claims.exp, isReadOnly: isReadOnly(claims.scope) },
    }
  }

  async function ofIssuer(own: readonly ExchangePolicy[], iss: string, token: string): Promise<Verified> {
    const rule = { issuer: iss, audience: own.map(audienceOf), clockToleranceSeconds: clockSkewSeconds }
    const claims = await verifyAssertion(token, await issuerKeys(iss), rule)
    const isMeant = (policy: ExchangePolicy) => [claims.aud ?? []].flat().includes(audienceOf(policy))
    const policy = own.find(each => isMeant(each) && isFor(each, claims.sub) && hasClaims(each, claims))
    if (policy === undefined) throw noPolicy(claims.sub)
    return { policy, subject: claims.sub, expiresAt: claims.exp }
  }

  async function ofServiceAccount(own: readonly ExchangePolicy[], token: string): Promise<Verified> {
    let subject = ''
    for (const each of new Set(own.map(audienceOf))) {
      const name = await reviewServiceAccount(token, each)
      if (name === undefined) continue
      subject = name
      const policy = own.find(one => audienceOf(one) === each && isFor(one, name))
      // kube-apiserver has verified the token.
      if (policy !== undefined)
        return { policy, subject, expiresAt: readUnverified(token)?.exp ?? Number.POSITIVE_INFINITY }
    }
    throw subject === '' ? invalid('kube-apiserver rejected the subject token') : noPolicy(subject)
  }

  async function verify(own: readonly ExchangePolicy[], token: string): Promise<Verified> {
    const iss = readUnverified(token)?.iss
    const ofIss = own.filter(each => each.source === 'OIDC' && each.issuer === iss)
    const accounts = own.filter(({ source }) => source === 'ServiceAccount')
    if (iss === undefined || (ofIss.length === 0 && accounts.length === 0))
      throw invalid('no policy is for the issuer of the subject token')
    if (ofIss.length === 0) return ofServiceAccount(accounts, token)
    try {
      return await ofIssuer(ofIss, iss, token)
    } catch (error) {
      if (error instanceof InvalidAssertion) throw invalid(`the subject token is invalid: ${error.message}`)
      throw error instanceof Status ? error : toUnavailable(error)
    }
  }

  return {
    audience,
    async find(client, token) {
      const own = policies.filter(({ clients }) => clients.includes(client.name))
      if (own.length === 0)
        throw oauthError(400, 'unauthorized_client', 'no policy of token exchange is for this client')
      if (tools.verifier.isOurs(token)) return ofUser(own, token)
      const { policy, ...verified } = await verify(own, token)
      const user = tools.users.get(policy.user ?? '')
      if (user === undefined)
        throw oauthError(400, 'invalid_grant', 'the user of the policy does not exist', {
          why: 'unknown_user',
        })
      assertUserEnabled(user)
      return { policy, user, ...verified, login: undefined, isReadOnly: false }
    },
  }
}

function isFor({ subjects }: ExchangePolicy, subject: string): boolean {
  return subjects.length === 0 || subjects.includes(subject)
}

function hasClaims({ claims: wanted }: ExchangePolicy, claims: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(wanted).every(([name, value]) => {
    const given = Object.hasOwn(claims, name) ? claims[name] : undefined
    return ['string', 'number', 'boolean'].includes(typeof given) && String(given) === value
  })
}

/** RFC 8693 section 2.2.2: also for a token that the policy does not accept. */
function invalid(description: string): Status {
  return oauthError(400, 'invalid_request', description, { why: 'invalid_subject_token' })
}

function noPolicy(subject: string): Status {
  const description = `no policy accepts the subject token of ${printable(subject)}`
  return oauthError(400, 'invalid_request', description, { why: 'no_policy' })
}

function toUnavailable(cause: unknown): Status {
  return oauthError(503, 'temporarily_unavailable', 'the keys of the issuer cannot be read', {
    ...{ headers: { 'retry-after': '5' }, why: 'issuer_keys', cause },
  })
}
