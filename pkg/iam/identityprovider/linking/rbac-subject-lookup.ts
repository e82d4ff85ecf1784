import type { KubeClient } from '../../../kubeclient/client.ts'
import { isRecord, parseList } from '../../../kubeclient/object/object.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'

/**
 * Reports whether a role binding has a subject with this user name. RBAC needs no User object:
 * without this check, a new user could choose the name of an administrator with a client
 * certificate.
 */
export async function isNamedInRbac(client: KubeClient, name: string): Promise<boolean> {
  for (const kind of ['clusterrolebindings', 'rolebindings']) {
    const { items } = parseList(await client.call({ path: `${rbac}/${kind}` }))
    const isNamed = (items ?? []).some(({ subjects }) =>
      (Array.isArray(subjects) ? subjects : []).some(
        subject => isRecord(subject) && subject.kind === 'User' && subject.name === name,
      ),
    )
    if (isNamed) return true
  }
  return false
}
