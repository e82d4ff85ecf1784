import fc from 'fast-check'
import { of, weighted, words } from './arbitraries.ts'
import { type Caller, resourcesGroup, type Scene } from './model.ts'
import { type Path, pathsAbout, rootsOf, toText } from './paths.ts'
import { queriesAbout } from './queries.ts'
import type { SentRequest } from './request-sender.ts'

/** A request that is sent to both servers. */
export type GeneratedRequest = SentRequest & {
  /** The API of the path, such as /kapi/v1. */
  readonly root: string
}

type RequestPart = Omit<GeneratedRequest, 'target' | 'root'> & { readonly path: Path; readonly query: string }

const readMethods = weighted(
  [20, fc.constant('GET')],
  [2, fc.constant('HEAD')],
  [1, words('OPTIONS QUERY LIST WATCH')],
)
const methods = weighted([3, readMethods], [1, words('POST PUT PATCH DELETE')])
// No DELETE: the query of a DELETE with a body is ignored, so dryRun could be lost.
const dryMethods = weighted([1, readMethods], [1, words('POST PUT PATCH')])

/** Generates requests near the limits of the permissions of a caller. */
export function requestsOf(scene: Scene, caller: Caller): fc.Arbitrary<GeneratedRequest> {
  const near = scene.objects.filter(({ name }) => caller.near?.includes(name))
  const object = weighted(
    [1, of(...scene.objects)],
    ...(near.length === 0 ? [] : [[2, of(...near)] as const]),
  )
  const method = { none: readMethods, 'dry run': dryMethods, refused: methods }[caller.writes]
  return object.chain(target =>
    fc
      .record({
        method,
        path: pathsAbout(target, scene),
        query: queriesAbout(target, scene),
        headers: headersOf(scene),
        body: bodies(scene),
        type: words(
          'application/json application/merge-patch+json application/json-patch+json application/apply-patch+yaml text/plain',
        ),
      })
      .map(({ type, ...part }) => toRequest(part, type, caller)),
  )
}

/** Returns reads of objects for which a caller has permissions, in each API. */
export function plainReads({ objects }: Scene, { near = [] }: Caller): readonly GeneratedRequest[] {
  const known = objects.filter(({ name }) => near.includes(name))
  return known.flatMap(({ group, namespace, resource, name }) =>
    rootsOf(group).map(root => {
      const path = { root, namespace, resource, name, special: '', subresource: '' }
      const target = toText({ ...path, respell: text => text })
      return { method: 'GET', root, target, headers: [], body: '' }
    }),
  )
}

function toRequest(
  { method, path, query, headers, body }: RequestPart,
  type: string,
  { writes }: Caller,
): GeneratedRequest {
  const mayWrite = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)
  const hasBody = mayWrite && body !== ''
  const dry = mayWrite && writes === 'dry run' ? `${query === '' ? '?' : '&'}dryRun=All` : ''
  return {
    method,
    root: path.root,
    target: toText(path) + query + dry,
    headers: hasBody ? [...headers, 'Content-Type', type] : headers,
    body: hasBody ? body : '',
  }
}

function headersOf({ deputies, user, names }: Scene): fc.Arbitrary<readonly string[]> {
  const blank = of('', '', '', ' ', '\t', ' \t')
  const identity = weighted(
    [2, of('system:masters', 'system:admin', 'admin', 'system:nodes', `system:node:${names.node}`)],
    [4, of(deputies.account, deputies.user, user)],
    [1, of('', 'a\tb', 'J\u00c3\u00b6rg', '\u00ff', 'system:anonymous', '*')],
  )
  const claims = words(
    'Impersonate-User Impersonate-User Impersonate-User impersonate-user Impersonate-Group Impersonate-Uid ' +
      'Impersonate_User Impersonate-Extra-a Impersonate-Extra-%41 Impersonate-Extra-constructor Impersonate-Other ' +
      'X-Remote-User X-Remote-Group X_Remote_User X-Remote-Uid X-Remote-Extra-a',
  )
  const claim = fc.tuple(
    claims,
    fc.tuple(blank, identity, blank).map(parts => parts.join('')),
  )
  const media = words(
    'application/json application/yaml */* text/html application/vnd.kubernetes.protobuf application/json;stream=watch',
  )
  const views = words('Table PartialObjectMetadataList PartialObjectMetadata').map(
    as => `application/json;as=${as};v=v1;g=meta.k8s.io`,
  )
  const key = ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==']
  const webSocket = ['Connection', 'Upgrade', 'Upgrade', 'websocket', ...key, 'Sec-WebSocket-Version', '13']
  const header = weighted<readonly string[]>(
    [4, claim],
    [3, fc.oneof(media, views).map(type => ['Accept', type])],
    [1, fc.tuple(words('X-HTTP-Method-Override X-Original-URL X-Rewrite-URL'), words('GET /healthz /api'))],
    [
      1,
      words('close keep-alive Impersonate-User Authorization X-Remote-User').map(name => [
        'Connection',
        name,
      ]),
    ],
    [
      1,
      fc.tuple(
        words('X-Forwarded-For Forwarded Cookie Audit-Id If-None-Match Range'),
        words('127.0.0.1 a=b * bytes=0-'),
      ),
    ],
    [1, fc.constant(webSocket)],
    [1, fc.constant(['Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1'])],
  )
  return weighted<readonly string[]>(
    [4, fc.constant([])],
    [3, header],
    [1, fc.array(header, { minLength: 2, maxLength: 3 }).map(all => all.flat())],
  )
}

function bodies({ namespaces }: Scene): fc.Arbitrary<string> {
  const objects = [
    {},
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'written' } },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'written', namespace: namespaces.b } },
    { metadata: { annotations: { written: 'yes' } } },
    [{ op: 'add', path: '/metadata/annotations/written', value: 'yes' }],
    { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] },
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    ...['WhoCan', 'AccessibleNamespaces', 'ExplainAccess'].map(kind => ({
      ...{ apiVersion: `${resourcesGroup}/v1alpha3`, kind },
      spec: { resourceAttributes: { verb: 'get', resource: 'secrets' } },
    })),
    [{ username: 'written', roleRef: 'admin' }],
    { metadata: { name: 'written' }, spec: { email: 'written@e2e.test', groups: [' system:masters'] } },
  ]
  return of('', 'not json', ...objects.map(object => JSON.stringify(object)))
}
