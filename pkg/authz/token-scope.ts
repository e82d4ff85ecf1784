import type { Identity } from '../apirequest/identity/identity.ts'
import { isPlatformPrefix, type RequestInfo } from '../apirequest/request-info.ts'
import { forbidden } from './forbidden.ts'

const readingVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head'])
// Subresources that open connections: they begin with GET, but the traffic may change anything.
const tunnels: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward', 'proxy'])
// Reviews of the caller, which are POST requests but change nothing.
const reviews: ReadonlySet<string> = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
])

// In any API group, since the platform API also serves Kubernetes Secrets.
const secrets = 'secrets'

/**
 * Enforces the scope of a token, before the permissions of its owner are checked. A read-only token
 * cannot write, open a connection (exec), or impersonate. It cannot read Secrets either, since they
 * contain credentials of other identities (signing keys, passwords, service account tokens). The
 * ClusterRole `view` of Kubernetes excludes Secrets for the same reason.
 *
 * @throws Status 403
 */
export function assertInScope(info: RequestInfo, identity: Identity): void {
  if (identity.isReadOnly !== true) return
  if (info.resource === secrets) throw forbidden(info, identity, 'a read-only token cannot read Secrets')
  const isReading = readingVerbs.has(info.verb) && !tunnels.has(info.subresource)
  const isReview = info.verb === 'create' && reviews.has(`${info.group}/${info.resource}`)
  if (!isReading && !isReview) throw forbidden(info, identity, 'a read-only token cannot change anything')
}

/** Enforces the scope for an upgrade, whose later traffic is unchecked. @throws Status 403 */
export function assertMayUpgrade(info: RequestInfo, identity: Identity): void {
  if (identity.isReadOnly === true)
    throw forbidden(
      info,
      identity,
      'a read-only token cannot open connections (exec, attach, port-forward or proxy)',
    )
}

/**
 * Enforces the scope for a request in a member cluster, which gets the identity but not the scope.
 * A path of the platform API may read different kinds, depending on its parameters, so a read-only
 * token could read Secrets there.
 *
 * @throws Status 403
 */
export function assertMayUseMember(info: RequestInfo, identity: Identity): void {
  assertInScope(info, identity)
  if (identity.isReadOnly === true && isPlatformPrefix(info.prefix))
    throw forbidden(info, identity, 'a read-only token cannot use the platform API of a member cluster')
}
