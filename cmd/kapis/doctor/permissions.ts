import type { KubeClient } from '../../../pkg/kubeclient/client.ts'
import { fieldsOf } from '../../../pkg/kubeclient/object/object.ts'
import { type Check, error, type Finding, print } from './check.ts'
import { type Rule, readManifests } from './manifest-objects.ts'

type Permission = {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  readonly namespace: string
}

/**
 * Permissions of the two built-in roles that the manifests bind. All other roles are in the
 * manifests.
 */
const delegated: readonly Permission[] = [
  { ...permission('create', 'authentication.k8s.io', 'tokenreviews') },
  { ...permission('create', 'authorization.k8s.io', 'subjectaccessreviews') },
]
const authenticationReader: Permission = {
  ...permission('get', '', 'configmaps'),
  namespace: 'kube-system',
  name: 'extension-apiserver-authentication',
}

/** Checks every permission that the manifests grant to the service account. */
export const permissions: Check = {
  name: 'rights',
  async examine({ client, groupDomain, namespace }) {
    const user = `system:serviceaccount:${namespace}:kapis`
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']
    const lacking = async (required: readonly Permission[]) => {
      const responses = await Promise.all(
        required.map(one => isAllowed(client, { user, groups, permission: one })),
      )
      return required.filter((_, i) => !responses[i])
    }
    const roles = readManifests({ groupDomain, namespace }).filter(
      ({ kind, metadata }) => /^(Cluster)?Role$/.test(kind) && metadata.name === 'kapis',
    )
    const findings: Finding[] = []
    for (const { kind, metadata, rules = [] } of roles) {
      const required = rules.flatMap(rule => toPermissions(rule, metadata.namespace ?? ''))
      findings.push(
        ...toFindings(
          await lacking(required),
          required.length,
          `${kind} ${metadata.name} and its ${kind}Binding`,
        ),
      )
    }
    findings.push(
      ...toFindings(await lacking(delegated), delegated.length, 'ClusterRoleBinding kapis:auth-delegator'),
      ...toFindings(
        await lacking([authenticationReader]),
        1,
        'RoleBinding kapis:authentication-reader in kube-system',
      ),
    )
    return findings
  },
}

function toFindings(lacking: readonly Permission[], all: number, source: string): readonly Finding[] {
  if (lacking.length === 0) return []
  const shown = lacking.slice(0, 5).map(describe).join(', ')
  const more = lacking.length > 5 ? ` and ${lacking.length - 5} more` : ''
  const problem = `the service account lacks ${lacking.length} of ${all} permissions of the ${source}: ${shown}${more}`
  return [error(problem, `restore the ${source}: ${print}`)]
}

function describe({ verb, group, resource, subresource, name }: Permission): string {
  const path = subresource === '' ? resource : `${resource}/${subresource}`
  return `${verb} ${path}${group === '' ? '' : `.${group}`}${name === '' ? '' : `/${name}`}`
}

function toPermissions(
  { apiGroups = [], resources = [], resourceNames = [''], verbs }: Rule,
  namespace: string,
): readonly Permission[] {
  return apiGroups.flatMap(group =>
    resources.flatMap(path => {
      const [resource = '', ...rest] = path.split('/')
      const subresource = rest.join('/')
      return resourceNames.flatMap(name =>
        verbs.map(verb => ({ verb, group, resource, subresource, name, namespace })),
      )
    }),
  )
}

function permission(verb: string, group: string, resource: string): Permission {
  return { verb, group, resource, subresource: '', name: '', namespace: '' }
}

async function isAllowed(
  client: KubeClient,
  {
    user,
    groups,
    permission: resourceAttributes,
  }: { user: string; groups: readonly string[]; permission: Permission },
): Promise<boolean> {
  const review = await client.call({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups, resourceAttributes },
    },
  })
  return fieldsOf(fieldsOf(review).status).allowed === true
}
