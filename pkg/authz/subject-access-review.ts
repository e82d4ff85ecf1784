import { badRequest, isStatus, unavailable } from '../apierrors/status.ts'
import type { KubeClient } from '../kubeclient/client.ts'
import { isRecord } from '../kubeclient/object/object.ts'
import { retryTransient } from '../kubeclient/retry.ts'

/** The spec of a SubjectAccessReview of authorization.k8s.io/v1. */
export type ReviewSpec = {
  readonly user: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
  readonly resourceAttributes?: Readonly<Record<string, unknown>>
  readonly nonResourceAttributes?: { readonly path: string; readonly verb: string }
}

export type Decision = { readonly isAllowed: boolean; readonly reason: string }

/** Sends a SubjectAccessReview. @throws Status 503, or 400 for a request that is too long */
export async function review(client: KubeClient, spec: ReviewSpec): Promise<Decision> {
  try {
    return await retryTransient(() => ask(client, spec))
  } catch (error) {
    if (isStatus(error, 413)) throw badRequest('the request is too long to be authorized')
    throw unavailable('authorization failed: the SubjectAccessReview could not be completed', error)
  }
}

async function ask(client: KubeClient, spec: ReviewSpec): Promise<Decision> {
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
