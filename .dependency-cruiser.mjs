// Import rules, checked by `make verify`: docs/architecture.md says why.

/** Layers from the bottom up. A file imports from its own package and from layers below its own. */
const layers = [
  { name: 'errors', packages: ['apierrors'] },
  {
    name: 'foundations',
    packages: [
      'kubeclient', 'jwt', 'certs', 'openapi', 'apirequest', 'httpserver', 'http', 'scheduling', 'telemetry', 'config', 'json', 'yaml',
      'files', 'cache', 'shell', 'protobuf',
    ],
    // Packages of one layer that may import each other.
    allowSiblings: true,
  },
  {
    name: 'domains',
    packages: ['resourcecache', 'iam', 'logs', 'authn', 'authz', 'audit', 'imageregistry', 'recording'],
    allowSiblings: true,
  },
  { name: 'HTTP surfaces', packages: ['extensionapi', 'platformapi', 'oauth', 'proxy', 'apidocs'] },
  { name: 'composition', packages: ['apiserver'] },
]

/** Third-party libraries and the packages that may import them: each can be replaced in one place. */
const owners = {
  '@kubernetes/client-node': ['kubeclient'],
  '@node-rs/bcrypt': ['iam'],
  '@eslint-community/regexpp': ['logs'],
  '@opentelemetry': ['telemetry'],
  '@simplewebauthn/server': ['iam'],
  express: ['extensionapi', 'platformapi', 'oauth', 'proxy', 'apiserver'],
  jose: ['jwt'],
  ldapts: ['iam'],
  'lru-cache': ['cache', 'logs'],
  'node-forge': ['certs'],
  'openid-client': ['iam'],
  otpauth: ['iam'],
  pino: ['telemetry'],
  'prom-client': ['telemetry'],
  qr: ['oauth'],
  re2js: ['logs'],
  snappy: ['logs'],
  undici: ['http'],
  ws: ['httpserver', 'http'],
  zod: ['config'],
  yaml: ['yaml'],
}

const pkg = names => `^pkg/(${names.join('|')})/`
const tests = String.raw`(\.test|-test-[a-z-]+|fixtures)\.ts$|/fixtures/`

const layerRules = layers.flatMap(({ name, packages, allowSiblings = false }, i) => {
  const above = layers.slice(i + 1).flatMap(layer => layer.packages)
  return [
    {
      name: `${name.replaceAll(' ', '-')}-import-downwards`,
      severity: 'error',
      from: { path: pkg(packages), pathNot: tests },
      to: { path: above.length > 0 ? `${pkg(above)}|^cmd/` : '^cmd/' },
    },
    ...(allowSiblings
      ? []
      : [
          {
            name: `${name.replaceAll(' ', '-')}-not-sideways`,
            severity: 'error',
            from: { path: '^pkg/([^/]+)/', pathNot: tests },
            to: { path: pkg(packages), pathNot: '^pkg/$1/' },
          },
        ].map(rule => ({ ...rule, from: { ...rule.from, path: `^pkg/(${packages.join('|')})/` } }))),
  ]
})

const ownerRules = Object.entries(owners).map(([library, packages]) => ({
  name: `${library}-has-an-owner`,
  severity: 'error',
  from: { path: '^pkg/', pathNot: `${tests}|${pkg(packages)}` },
  to: { path: `node_modules/${library}/` },
}))

export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    ...layerRules,
    {
      name: 'kapis-groups-not-sideways',
      comment: 'Each group and version of the platform API stands on its own.',
      severity: 'error',
      from: { path: '^pkg/platformapi/([^/]+/[^/]+)/', pathNot: tests },
      to: { path: '^pkg/platformapi/[^/]+/[^/]+/', pathNot: '^pkg/platformapi/$1/' },
    },
    {
      name: 'programs-import-pkg',
      severity: 'error',
      from: { path: '^(cmd|pkg)/', pathNot: tests },
      to: { path: '^(hack|test)/' },
    },
    {
      name: 'test-code-stays-in-tests',
      severity: 'error',
      from: { path: '^(cmd|pkg)/', pathNot: tests },
      to: { path: tests, pathNot: 'node_modules' },
    },
    {
      name: 'no-barrels',
      severity: 'error',
      from: {},
      to: { path: '/index\\.ts$', pathNot: 'node_modules/' },
    },
    {
      name: 'no-junk-drawers',
      comment: 'A folder is named after what is in it.',
      severity: 'error',
      from: {},
      to: {
        path: '/(util|utils|helper|helpers|common|models|types|misc|shared)/',
        pathNot: 'node_modules/',
      },
    },
    {
      name: 'libraries-have-owners',
      comment: 'A new library gets an owner in this file and a line in ADR 1.',
      severity: 'error',
      from: { path: '^(cmd|pkg)/', pathNot: tests },
      to: {
        path: 'node_modules/',
        pathNot: Object.keys(owners).map(library => `node_modules/${library}/`).join('|'),
      },
    },
    ...ownerRules,
    // xterm.js is served next to the scripts of the log page, but is in node_modules.
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '/xterm-headless\\.mjs$' },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'hack/node/node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
}
