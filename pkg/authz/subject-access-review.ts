import { badRequest, isStatus, unavailable } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import type { KubeClient } from '../kubeclient/client.ts'
import { isRecord } from '../kubeclient/object/object.ts'
import { retryTransient } from '../kubeclient/retry.ts'
import { type ReviewedAttributes, type ReviewSpec, toReviewSpec } from './attributes.ts'

export type Decision = { readonly isAllowed: boolean; readonly reason: string }

/** Sends a SubjectAccessReview. @throws Status 503, or 400 for a request that is too long */
export async function reviewAccess(
  client: KubeClient,
  attributes: ReviewedAttributes,
  identity: Identity,
): Promise<Decision> {
  const spec = toReviewSpec(attributes, identity)
  try {
    return await retryTransient(() => postReview(client, spec))
  } catch (error) {
    if (isStatus(error, 413)) throw badRequest('the request is too long to be authorized')
    throw unavailable('authorization failed: the SubjectAccessReview could not be completed', error)
  }
}

async function postReview(client: KubeClient, spec: ReviewSpec): Promise<Decision> {
  const response = await client.call({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec },
  })
  const status = isRecord(response) && isRecord(response.status) ? response.status : {}
  // An explicit denial takes precedence over allowed.
  const isAllowed = status.allowed === true && status.denied !== true
  return { isAllowed, reason: typeof status.reason === 'string' ? status.reason : '' }
}
