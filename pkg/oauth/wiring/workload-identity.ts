import { unavailable } from '../../apierrors/status.ts'
import { reviewToken } from '../../authn/token-review.ts'
import type { Config } from '../../config/config.ts'
import { createIssuerKeys } from '../../iam/identityprovider/oidc/issuer-keys.ts'
import { createUpstreamFetch } from '../../iam/identityprovider/upstream-fetch.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { retryTransient } from '../../kubeclient/retry.ts'
import { createConcurrencyLimiter } from '../../scheduling/concurrency-limiter.ts'
import { type ClientAssertions, createClientAssertions } from '../client-assertion.ts'
import type { SubjectTokens } from '../tokens/exchangeable-token.ts'
import { createSubjectTokens } from '../tokens/subject-token.ts'
import type { TokenValidator } from '../tokens/token-validation.ts'

// Anyone can invent tokens, and each causes a request to kube-apiserver, so reviews are limited.
const maxReviews = { maxConcurrent: 16, waiting: 256 }

/** Authenticates workloads by tokens of service accounts and of CI systems. */
export function createWorkloadIdentity(
  client: KubeClient,
  { issuer, audience, clockSkewSeconds, tokenExchange: policies }: Config['oauth'],
  tools: TokenValidator & Parameters<typeof createSubjectTokens>[0],
): { readonly assertions: ClientAssertions; readonly subjectTokens: SubjectTokens } {
  const fetch = createUpstreamFetch({ ca: undefined, isVerified: true })
  const queue = createConcurrencyLimiter({
    maxConcurrent: maxReviews.maxConcurrent,
    maxWaiting: maxReviews.waiting,
    rejection: () => unavailable('too many token reviews in progress'),
  })
  async function reviewServiceAccount(token: string, requiredAudience: string): Promise<string | undefined> {
    const found = await queue.run(() => retryTransient(() => reviewToken(client, token, requiredAudience)))
    const isAccount = found !== 'refused' && found.username.startsWith('system:serviceaccount:')
    return isAccount ? found.username : undefined
  }
  return {
    assertions: createClientAssertions({ issuer, clockSkewSeconds, fetch, reviewServiceAccount }),
    subjectTokens: createSubjectTokens(tools, {
      ...{ policies, issuer, audience, clockSkewSeconds, reviewServiceAccount },
      issuerKeys: createIssuerKeys(fetch),
    }),
  }
}
