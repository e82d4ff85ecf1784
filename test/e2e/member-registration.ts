import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { isRecord } from '../../pkg/kubeclient/object/object.ts'
import type { Cluster } from '../installation/control-plane.ts'
import { kubectlOutput } from './cluster.ts'
import { groupDomain } from './http.ts'
import { output, setting } from './run.ts'

/** The resource of Clusters. */
export const clusterResource = `clusters.cluster.${groupDomain}`
const account = 'kapis-host'

/** Creates the account of docs/clusters.md in a member. */
export async function createMemberAccount(member: Cluster): Promise<void> {
  await member.output(['apply', '-f', '-'], documentedRole())
  await member.output(['create', 'serviceaccount', account])
  const subject = `--serviceaccount=default:${account}`
  await member.output(['create', 'clusterrolebinding', account, `--clusterrole=${account}`, subject])
}

export async function removeMemberAccount(member: Cluster): Promise<void> {
  for (const kind of ['serviceaccount', 'clusterrole', 'clusterrolebinding'])
    await member.output(['delete', kind, account, '--ignore-not-found'])
}

export async function tokenOfMember(member: Cluster): Promise<string> {
  return (await member.output(['create', 'token', account])).trim()
}

export function kubeconfigFor(member: Cluster, token: string, server = member.env.KUBE_URL): string {
  const ca = readFileSync(member.env.KUBE_CA ?? '').toString('base64')
  return JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { token } }],
  })
}

/** Creates a Cluster and its Secret in this cluster, or replaces them. */
export async function registerMember(
  name: string,
  secret: { readonly kubeconfig: string; readonly [key: string]: string },
): Promise<void> {
  await apply({
    ...{ apiVersion: 'v1', kind: 'Secret', type: `cluster.${groupDomain}/kubeconfig` },
    metadata: { name, namespace: setting('KAPIS_NAMESPACE') },
    stringData: secret,
  })
  const apiVersion = `cluster.${groupDomain}/v1alpha1`
  await apply({ apiVersion, kind: 'Cluster', metadata: { name }, spec: { provider: 'e2e' } })
}

/** Lets a user use members. */
export async function grantMemberUse(
  verb: string,
  username: string,
  members: readonly string[],
): Promise<void> {
  const names = members.map(name => `--resource-name=${name}`)
  await kubectlOutput(
    'create',
    'clusterrole',
    verb,
    '--verb=proxy',
    `--resource=${clusterResource}`,
    ...names,
  )
  await kubectlOutput('create', 'clusterrolebinding', verb, `--clusterrole=${verb}`, `--user=${username}`)
}

export async function removeMembers(right: string, members: readonly string[]): Promise<void> {
  for (const name of members) {
    await kubectlOutput('delete', clusterResource, name, '--ignore-not-found')
    await kubectlOutput('delete', 'secret', '-n', setting('KAPIS_NAMESPACE'), name, '--ignore-not-found')
  }
  for (const kind of ['clusterrole', 'clusterrolebinding'])
    await kubectlOutput('delete', kind, right, '--ignore-not-found')
}

function apply(object: object): Promise<string> {
  return output('kubectl', ['apply', '-f', '-'], { stdin: JSON.stringify(object) })
}

/** The ClusterRole that docs/clusters.md has for the account of the kubeconfig. */
function documentedRole(): string {
  const text = readFileSync(new URL('../../docs/clusters.md', import.meta.url), 'utf8')
  const [, block = ''] = /```yaml\n([\s\S]*?)```/.exec(text) ?? []
  const role: unknown = parse(block)
  if (!isRecord(role) || role.kind !== 'ClusterRole') throw new Error('docs/clusters.md has no ClusterRole')
  return JSON.stringify(role)
}
