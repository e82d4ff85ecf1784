import { Status } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'

// Prefixes of names to which Kubernetes grants permissions in every cluster. kubeadm binds
// kubeadm:cluster-admins to cluster-admin.
const reserved = /^(system|kubeadm):/
const ofKubernetes = /(^|\.)(kubernetes|k8s)\.io\//

const known = new WeakMap<Identity, Identity>()

/**
 * Returns the identity that a member cluster gets for a caller: user, uid, groups and extra of this
 * cluster, without the groups and extra keys that Kubernetes reserves. Those apply to this cluster
 * only: a member of `system:masters` here is not one there, and
 * `authentication.kubernetes.io/node-name` is a node of this cluster.
 *
 * @throws Status 403 for a user whose name is reserved: a service account with the same name in the
 * member cluster is another account
 */
export function toMemberIdentity(identity: Identity): Identity {
  const found = known.get(identity)
  if (found !== undefined) return found
  const { username, uid, groups, extra, isTrimmed } = identity
  if (reserved.test(username) || isTrimmed === true) {
    const message = `user ${JSON.stringify(username)} exists in this cluster only, and cannot be impersonated in a member cluster`
    throw new Status(403, 'Forbidden', message)
  }
  const made = {
    username,
    uid,
    groups: groups.filter(group => !reserved.test(group)),
    extra: Object.fromEntries(Object.entries(extra).filter(([key]) => !ofKubernetes.test(key))),
  }
  known.set(identity, made)
  return made
}
