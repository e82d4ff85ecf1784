import fc from 'fast-check'
import { groupDomain } from '../../e2e/http.ts'
import { encodeAt, of, weighted, words } from './arbitraries.ts'
import { iamGroup, type MarkedObject, resourcesGroup, type Scene } from './model.ts'

/** The segments of a path; '' omits a segment. */
export type Path = {
  readonly root: string
  readonly special: string
  readonly namespace: string
  readonly resource: string
  readonly name: string
  readonly subresource: string
  /** Changes the spelling of the whole path. */
  readonly respell: (path: string) => string
}

/** Returns the paths of both servers at which objects of a group can be read. */
export const rootsOf = (group: string): readonly string[] =>
  group === ''
    ? [
        '/api/v1',
        '/kapi/v1',
        ...['apis', 'kapis', 'kapi'].map(prefix => `/${prefix}/${resourcesGroup}/v1alpha3`),
      ]
    : ['apis', 'kapis', 'kapi'].map(prefix => `/${prefix}/${iamGroup}/v1alpha2`)

export const roots: readonly string[] = ['', iamGroup].flatMap(rootsOf)

const otherRoots = [
  ...[
    '/apis/rbac.authorization.k8s.io/v1',
    '/apis/authentication.k8s.io/v1',
    '/apis/authorization.k8s.io/v1',
  ],
  ...['/api', '/apis', '/kapis/rbac.authorization.k8s.io/v1', '/kapis/apps/v1', '/kapis/v1', '/kapi/v2'],
  ...['v1alpha2', 'v1alpha3', 'v1alpha2/workspaces/none', 'v1alpha2/workspaces'].map(
    below => `/kapis/tenant.${groupDomain}/${below}`,
  ),
  `/kapis/logging.${groupDomain}/v1alpha2/select/logsql`,
  ...['/KAPI/v1', '/kapi/v1/api/v1', `/kapis/${resourcesGroup}/v1alpha2`, `/apis/${resourcesGroup}/v1`],
]

/** Generates paths of an object: a valid path in which some segments are changed. */
export function pathsAbout(object: MarkedObject, { namespaces, objects }: Scene): fc.Arbitrary<Path> {
  const same = (path: string) => path
  const start = fc.record({ root: of(...rootsOf(object.group)), isNamed: fc.boolean() }).map(
    ({ root, isNamed }): Path => ({
      ...{ root, special: '', namespace: object.namespace, resource: object.resource },
      ...{ name: isNamed ? object.name : '', subresource: '', respell: same },
    }),
  )
  const resources = words('secrets configmaps pods nodes namespaces users serviceaccounts events workspaces')
  const odd = of(
    ...['Secrets', 'secret', '*', '', 'secrets;a=b', 'secrets.v1', 'loginsessions', 'componenthealth'],
    ...['selfsubjectreviews', 'selfsubjectaccessreviews', 'watch', 'namespaces'],
    // Resources of Kapis: views for consoles, access reviews and endpoints of LogsQL.
    ...['members', 'clustermembers', 'workspacemembers', 'roles', 'clusterroles', 'globalroles'],
    ...['workspacetemplates', 'whocans', 'accessiblenamespaces', 'subjectaccessreports', 'explainaccesses'],
    ...['query?query=*', 'hits?query=*', 'streams?query=*', 'tail?query=*'],
  )
  const subresources = words(
    'status log exec attach portforward proxy proxy/ token finalize binding eviction kubeconfig password ' +
      'loginrecords ephemeralcontainers resize scale verify quotas secrets globalroles roles clusterroles namespaces',
  )
  const change: fc.Arbitrary<Partial<Path>> = weighted<Partial<Path>>(
    [3, of('watch/', 'watch/', 'proxy/').map(special => ({ special }))],
    [3, of(namespaces.a, namespaces.b, 'default', '*', 'kube-system', '').map(namespace => ({ namespace }))],
    [2, resources.map(resource => ({ resource }))],
    [1, odd.map(resource => ({ resource }))],
    [2, of(...objects.map(({ name }) => name), '*', 'none').map(name => ({ name }))],
    [2, subresources.map(subresource => ({ subresource }))],
    [1, of(...otherRoots).map(root => ({ root }))],
    [3, respellings().map(respell => ({ respell }))],
  )
  const changes = weighted(
    [4, fc.constant<Partial<Path>[]>([])],
    [3, fc.array(change, { minLength: 1, maxLength: 1 })],
    [2, fc.array(change, { minLength: 2, maxLength: 3 })],
  )
  return fc.tuple(start, changes).map(([path, all]) => Object.assign({}, path, ...all))
}

export function toText({ root, special, namespace, resource, name, subresource, respell }: Path): string {
  const place = namespace === '' ? '' : `namespaces/${namespace}/`
  const object = name === '' ? '' : `/${name}`
  const inside = name === '' || subresource === '' ? '' : `/${subresource}`
  return respell(`${root}/${special}${place}${resource}${object}${inside}`)
}

/** Generates other spellings of a path, which may or may not be equivalent. */
function respellings(): fc.Arbitrary<Path['respell']> {
  const place = fc.nat(200)
  const ends = words('/ // /. /.. /../secrets %2f %2F.. %00 ;a=b %3Fwatch=true %23 \\ %5c /* %zz %c3 %20 +')
  return fc.oneof(
    place.map(at => (path: string) => encodeAt(path, at)),
    place.map(at => (path: string) => encodeAt(path, at).replace('%', '%25')),
    ends.map(end => (path: string) => path + end),
    words('// /./ %2f \\ /%2e/').map(
      slash => (path: string) => path.slice(0, 8) + path.slice(8).replace('/', slash),
    ),
    fc.constant((path: string) => path.toUpperCase()),
  )
}
