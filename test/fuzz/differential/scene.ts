import { randomBytes } from 'node:crypto'
import { createPasswordHasher } from '../../../pkg/iam/passwords/password.ts'
import { signClientCertificate } from '../../e2e/client-certificate.ts'
import { kubectl, tokenOf, uniqueName } from '../../e2e/cluster.ts'
import { apply } from '../../e2e/http.ts'
import { loginAs, removeUser } from '../../e2e/oauth.ts'
import { type Caller, iamGroup, type MarkedObject, type Scene } from './model.ts'
import { permissionsOf } from './permissions.ts'

const hex = () => randomBytes(6).toString('hex')
const password = 'Correct horse 1'
const accounts = [
  'named',
  'viewer',
  'watcher',
  'unprivileged',
  'platform',
  'impersonator',
  'reviewer',
  'editor',
]

/**
 * Creates objects in two namespaces and cluster-scoped ones, and callers with minimal permissions
 * on some of them.
 */
export async function makeScene(): Promise<Scene> {
  const run = uniqueName('diff')
  const labels = { test: run }
  const namespaces = { a: `${run}-a`, b: `${run}-b` }
  const objects: MarkedObject[] = []
  const manifests: object[] = []

  function make(kind: string, namespace: string, rest: object = {}, group = '', name = `o${hex()}`): string {
    const marker = `marker-${hex()}`
    const annotations = { 'differential.example.org/marker': marker }
    const metadata = { name, labels, annotations, ...(namespace === '' ? {} : { namespace }) }
    const apiVersion = group === '' ? 'v1' : `${group}/v1alpha2`
    manifests.push({ apiVersion, kind, metadata, ...rest })
    objects.push({ group, resource: `${kind.toLowerCase()}s`, namespace, name, marker })
    return name
  }

  for (const name of Object.values(namespaces)) make('Namespace', '', {}, '', name)
  const account = (name: string, namespace: string) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace },
  })
  // Service accounts, including that of the pods.
  manifests.push(...accounts.map(name => account(name, namespaces.a)), account('editor', namespaces.b))
  const mine = make('Secret', namespaces.a)
  make('Secret', namespaces.a)
  make('Secret', namespaces.b)
  const map = make('ConfigMap', namespaces.a)
  make('ConfigMap', namespaces.a)
  make('ConfigMap', namespaces.b)
  const node = make('Node', '')
  const otherNode = make('Node', '')
  const podOn = (nodeName: string, more: object = {}) => ({
    spec: { containers: [{ name: 'a', image: 'a' }], serviceAccountName: 'editor', nodeName, ...more },
  })
  const volumes = [{ name: 'v', secret: { secretName: mine } }]
  const pod = make('Pod', namespaces.a, podOn(node, { volumes }))
  make('Pod', namespaces.a, podOn(otherNode))
  make('Pod', namespaces.b, podOn(otherNode))
  const hash = await (await createPasswordHasher()).hash(password)
  const user = make('User', '', { spec: { email: `${run}-1@e2e.test`, password: hash } }, iamGroup)
  make('User', '', { spec: { email: `${run}-2@e2e.test` } }, iamGroup)

  const names = { mine, map, pod, node }
  const deputies = { account: `system:serviceaccount:${namespaces.a}:reviewer`, user: `${run}-deputy` }
  const subjects = { nonAscii: `Jörg ${run}`, all: `${run}-all` }
  const made = { namespaces, objects, names, user, deputies, subjects }
  manifests.push(...permissionsOf(made, labels))
  await apply({ apiVersion: 'v1', kind: 'List', items: manifests })
  return {
    ...made,
    callers: await makeCallers(made, run),
    async remove() {
      await Promise.all([
        kubectl('delete', 'clusterrole,clusterrolebinding,node', '-l', `test=${run}`),
        ...objects.filter(({ resource }) => resource === 'users').map(({ name }) => removeUser(name)),
        kubectl('delete', 'namespace', ...Object.values(namespaces), '--wait=false'),
      ])
    },
  }
}

async function makeCallers(
  { namespaces, names, user, deputies, subjects }: Omit<Scene, 'callers' | 'remove'>,
  run: string,
): Promise<readonly Caller[]> {
  const authenticated = 'system:authenticated'
  const accountUser = (name: string) => ({
    user: `system:serviceaccount:${namespaces.a}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespaces.a}`, authenticated],
  })
  const bearer = (token: string) => ['Authorization', `Bearer ${token}`]
  const byAccount = async (name: string, more: Partial<Caller> = {}): Promise<Caller> => ({
    what: `service account ${name}`,
    credential: bearer(await tokenOf(namespaces.a, name)),
    user: accountUser(name),
    writes: 'refused',
    ...more,
  })
  const byCertificate = async (
    commonName: string,
    groups: readonly string[],
    more: Partial<Caller> = {},
  ): Promise<Caller> => ({
    what: `certificate ${JSON.stringify([commonName, ...groups])}`,
    credential: [],
    pair: await signClientCertificate([...groups.map(name => ['O', name] as const), ['CN', commonName]]),
    user: { user: commonName, groups: [...groups, authenticated] },
    writes: 'refused',
    ...more,
  })
  const byLogin = async (): Promise<Caller> => ({
    what: 'a user of Kapis',
    credential: bearer((await loginAs({ username: user, password })).access_token),
    user: { user, groups: [authenticated] },
    sees: [user, namespaces.b],
    near: [user],
    writes: 'none',
  })
  const { mine, map, pod, node } = names
  return Promise.all([
    byAccount('named', { sees: [namespaces.a], near: [mine, map, node, user, namespaces.b] }),
    byAccount('viewer', { sees: [namespaces.a], near: [mine, map, pod] }),
    byAccount('watcher'),
    byAccount('unprivileged'),
    byAccount('platform', { near: [pod, node] }),
    byAccount('impersonator', {
      sees: Object.values(namespaces),
      alsoAs: [accountUser('reviewer'), { user: deputies.user, groups: [authenticated] }],
      near: [map, pod],
    }),
    byAccount('editor', { sees: [namespaces.a], near: [map], writes: 'dry run' }),
    byCertificate(`${run}-blank`, [' system:masters']),
    byCertificate(`${run}-tab`, ['system:masters\t', `\t${subjects.all}`]),
    byCertificate(`${run}-other`, [`${subjects.all} `, ` ${subjects.all}`]),
    byCertificate(` ${deputies.user}`, []),
    byCertificate(subjects.nonAscii, ['開発'], { sees: [namespaces.a], near: [map] }),
    byCertificate(accountUser('viewer').user, [], { sees: [namespaces.a] }),
    byCertificate(`system:node:${node}`, ['system:nodes'], {
      sees: [pod, node],
      near: [pod, mine],
      writes: 'none',
    }),
    byLogin(),
    Promise.resolve<Caller>({ what: 'unprivileged', credential: [], writes: 'refused' }),
    Promise.resolve<Caller>({ what: 'an unknown token', credential: bearer('x.y.z'), writes: 'refused' }),
  ])
}
