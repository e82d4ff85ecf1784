import { kubectl, kubectlOutput, makeNamespace, tokenOf, uniqueName } from './cluster.ts'
import { apply } from './http.ts'

export type Rule = {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

/** Creates service accounts with exactly the given permissions at the cluster scope. */
export type Accounts = {
  readonly namespace: string
  /** Creates a service account. @returns its token */
  readonly make: (name: string, rules: readonly Rule[]) => Promise<string>
  readonly remove: () => Promise<void>
}

export async function createAccounts(what: string): Promise<Accounts> {
  const namespace = uniqueName(what)
  const roles: string[] = []
  await makeNamespace(namespace, [])
  return {
    namespace,
    async make(name, rules) {
      const role = `${namespace}-${name}`
      roles.push(role)
      await kubectlOutput('-n', namespace, 'create', 'serviceaccount', name)
      const header = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: role } }
      await apply({ ...header, kind: 'ClusterRole', rules })
      await apply({
        ...header,
        kind: 'ClusterRoleBinding',
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ kind: 'ServiceAccount', namespace, name }],
      })
      return tokenOf(namespace, name)
    },
    async remove() {
      await kubectl('delete', 'namespace', namespace, '--wait=false')
      await kubectl('delete', 'clusterrole,clusterrolebinding', ...roles)
    },
  }
}
