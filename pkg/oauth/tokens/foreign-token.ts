import type { ExchangePolicy } from '../../config/sections/token-exchange.ts'
import { type Assertion, InvalidAssertion, readUnverified, verifyAssertion } from '../../jwt/assertion.ts'
import type { remoteKeys } from '../../jwt/remote-keys.ts'
import { oauthError } from '../server/error.ts'

export type ForeignTokenOptions = {
  readonly issuer: string
  readonly clockSkewSeconds: number
  readonly issuerKeys: (issuer: string) => Promise<ReturnType<typeof remoteKeys>>
  /**
   * Reviews a token for an audience, and returns the user name of its service account; undefined if
   * the token is invalid. @throws Status
   */
  readonly reviewServiceAccount: (token: string, audience: string) => Promise<string | undefined>
}

export type VerifiedToken = {
  readonly subject: string
  /** When the token expires, in seconds since the epoch. */
  readonly expiresAt: number
  readonly claims: Readonly<Record<string, unknown>>
}

export type ForeignToken = {
  /**
   * Returns the verified subject and claims if the policy matches the source, issuer and audience
   * of the token; undefined otherwise. Verifies the token once per source and audience.
   *
   * @throws Status 503 if the token cannot be verified
   */
  readonly verifiedFor: (policy: ExchangePolicy) => Promise<VerifiedToken | undefined>
  /** Returns the reason why no policy matches the token. */
  readonly problem: () => string
}

/** Creates a lazily verified token of another issuer; policies determine the audience. */
export function createForeignToken(
  token: string,
  { issuer, clockSkewSeconds, issuerKeys, reviewServiceAccount }: ForeignTokenOptions,
): ForeignToken {
  const unverified = readUnverified(token)
  const iss = unverified?.iss
  const byAudience = new Map<string, Promise<VerifiedToken | undefined>>()
  const problems = { ofIssuer: '', isReviewed: false }

  async function verifyOfIssuer(iss: string, audience: string): Promise<Assertion | undefined> {
    const rule = {
      ...{ issuer: iss, audience: [audience], types: ['at+jwt'] },
      clockToleranceSeconds: clockSkewSeconds,
    }
    try {
      return await verifyAssertion(token, await issuerKeys(iss), rule)
    } catch (error) {
      if (!(error instanceof InvalidAssertion)) throw toUnavailable(error)
      problems.ofIssuer ||= error.message
      return undefined
    }
  }

  async function review(audience: string): Promise<VerifiedToken | undefined> {
    problems.isReviewed = true
    const subject = await reviewServiceAccount(token, audience)
    // The unverified claim can be used, since kube-apiserver has verified the token.
    const expiresAt = unverified?.exp ?? Number.POSITIVE_INFINITY
    return subject === undefined ? undefined : { subject, expiresAt, claims: {} }
  }

  async function verify({ source }: ExchangePolicy, audience: string): Promise<VerifiedToken | undefined> {
    if (source === 'ServiceAccount') return review(audience)
    const claims = await verifyOfIssuer(iss ?? '', audience)
    return claims === undefined ? undefined : { subject: claims.sub, expiresAt: claims.exp, claims }
  }

  return {
    async verifiedFor(policy) {
      const isFor = policy.source === 'OIDC' ? policy.issuer === iss : policy.source === 'ServiceAccount'
      if (iss === undefined || !isFor) return undefined
      const { subjectAudience: audience = issuer } = policy
      const key = `${policy.source} ${audience}`
      const verified = byAudience.get(key) ?? verify(policy, audience)
      byAudience.set(key, verified)
      return verified
    },
    problem() {
      if (problems.ofIssuer !== '') return `the subject token is invalid: ${problems.ofIssuer}`
      return problems.isReviewed
        ? 'kube-apiserver rejected the subject token'
        : 'no policy of token exchange accepts the issuer of the subject token'
    },
  }
}

function toUnavailable(cause: unknown) {
  return oauthError(503, 'temporarily_unavailable', 'the keys of the issuer cannot be read', {
    ...{ headers: { 'retry-after': '5' }, why: 'issuer_keys', cause },
  })
}
