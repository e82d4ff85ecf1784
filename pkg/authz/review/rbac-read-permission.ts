import { isStatus } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import { type RequestInfo, toResourceInfo } from '../../apirequest/request-info.ts'
import type { Authorize } from '../authorizer.ts'

/**
 * The scope of the roles and bindings to read: the cluster-wide ones, and also those of one
 * namespace or of all namespaces.
 */
export type RbacScope = 'cluster' | 'everywhere' | { readonly namespace: string }

const group = 'rbac.authorization.k8s.io'

/** Requires permission to list roles and bindings for a review. @throws Status 403, 401, 503 */
export async function requireRbacRead(
  authorize: Authorize,
  identity: Identity,
  scope: RbacScope,
): Promise<void> {
  for (const info of listRequests(scope)) await authorize(info, identity)
}

/** Reports whether a caller may list the roles and bindings in a scope. @throws Status 503 */
export async function mayReadRbac(
  authorize: Authorize,
  identity: Identity,
  scope: RbacScope,
): Promise<boolean> {
  for (const info of listRequests(scope)) if (!(await isAllowed(authorize, info, identity))) return false
  return true
}

/** Reports whether a SubjectAccessReview allows a request. @throws Status 503 */
export async function isAllowed(
  authorize: Authorize,
  info: RequestInfo,
  identity: Identity,
): Promise<boolean> {
  try {
    await authorize(info, identity)
    return true
  } catch (error) {
    if (isStatus(error, 401, 403)) return false
    throw error
  }
}

/** Returns the permissions to list roles and bindings. */
export function listRequests(scope: RbacScope): readonly RequestInfo[] {
  const list = (resource: string, namespace = '') =>
    toResourceInfo({ verb: 'list', group, version: 'v1', resource, namespace })
  const cluster = [list('clusterroles'), list('clusterrolebindings')]
  if (scope === 'cluster') return cluster
  const namespace = scope === 'everywhere' ? '' : scope.namespace
  return [...cluster, list('roles', namespace), list('rolebindings', namespace)]
}
