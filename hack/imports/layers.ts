/** The storeys of the house, from the ground up. A file may import from its own room and from storeys below its own. */
const layers: readonly (readonly [name: string, rooms: readonly string[]])[] = [
  ['the ground', ['pkg/status']],
  [
    'the foundations',
    [
      'pkg/kube',
      'pkg/token',
      'pkg/certs',
      'pkg/openapi',
      'pkg/request',
      'pkg/telemetry',
      'pkg/config',
      'pkg/tracing',
      'pkg/json',
      'pkg/yaml',
    ],
  ],
  [
    'the domains',
    ['pkg/resources', 'pkg/iam', 'pkg/logs', 'pkg/authn', 'pkg/authz', 'pkg/audit', 'pkg/registry'],
  ],
  ['the faces', ['pkg/aggregated', 'pkg/kapis', 'pkg/oauth', 'pkg/proxy', 'pkg/apidocs']],
  ['the composition', ['pkg/apiserver']],
  ['the programs', ['cmd']],
]

/** Rooms of one storey that may use each other: foundations and domains build on their neighbours, faces never do. */
const neighbourly = new Set(['the foundations', 'the domains', 'the programs'])

export type Place = { readonly room: string; readonly storey: number; readonly layer: string }

/** Where a file of the repository belongs; undefined when it is in no room that has rules. */
export function findPlace(file: string): Place | undefined {
  for (const [storey, [layer, rooms]] of layers.entries()) {
    const room = rooms.find(name => file.startsWith(`${name}/`))
    if (room !== undefined) return { room: withinFaces(room, file), storey, layer }
  }
  return undefined
}

/** Each group and version of the /kapis APIs is a face of its own. */
function withinFaces(room: string, file: string): string {
  if (room !== 'pkg/kapis') return room
  const [, , group, version] = file.split('/')
  return file.split('/').length > 4 ? `${room}/${group}/${version}` : room
}

/** Why `from` may not import `to`; undefined when it may. */
export function refusal(from: Place, to: Place): string | undefined {
  if (from.room === to.room) return undefined
  if (to.storey > from.storey)
    return `${from.room} (${from.layer}) must not import upward from ${to.room} (${to.layer})`
  if (to.storey < from.storey || neighbourly.has(from.layer)) return undefined
  // What lies in pkg/kapis itself is there for all the faces below it.
  if (to.room === 'pkg/kapis' && from.room.startsWith('pkg/kapis/')) return undefined
  return `${from.room} must not import from ${to.room}: faces do not know each other`
}

/** Third-party libraries and who may import them: each is owned by one room, so that it can be replaced in one place. */
const owners: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['pkg/kube'],
  '@node-rs/bcrypt': ['pkg/iam'],
  '@opensearch-project/opensearch': ['pkg/logs'],
  '@opentelemetry/api': ['pkg/tracing'],
  '@opentelemetry/core': ['pkg/tracing'],
  '@opentelemetry/exporter-trace-otlp-proto': ['pkg/tracing'],
  '@opentelemetry/resources': ['pkg/tracing'],
  '@opentelemetry/sdk-trace': ['pkg/tracing'],
  express: ['pkg/aggregated', 'pkg/kapis', 'pkg/oauth', 'pkg/proxy', 'pkg/apiserver', 'cmd'],
  jose: ['pkg/token'],
  ldapts: ['pkg/iam'],
  'node-forge': ['pkg/certs'],
  'openid-client': ['pkg/iam'],
  pino: ['pkg/telemetry'],
  'prom-client': ['pkg/telemetry'],
  yaml: ['pkg/yaml', 'cmd'],
}

/** Why a file may not import a package; undefined when it may. Test files bring their own tools. */
export function packageRefusal(file: string, specifier: string, isTest: boolean): string | undefined {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
  const rooms = owners[name]
  if (rooms === undefined) {
    return isTest
      ? undefined
      : `${name} is owned by no room: name its owner in hack/imports/layers.ts and in an ADR`
  }
  if (rooms.some(room => file.startsWith(`${room}/`))) return undefined
  return isTest ? undefined : `${name} is imported by ${rooms.join(', ')} alone`
}
