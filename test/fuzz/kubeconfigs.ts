import fc from 'fast-check'

export type Json = string | boolean | null | readonly Json[] | { readonly [key: string]: Json }
export const usualNames = fc.constantFrom('kapis', 'prod', 'dev')

/** Names that YAML parsers may misread, or that require quotes. */
export const names = fc.oneof(
  usualNames,
  fc.constantFrom(
    ...[
      'no',
      'y',
      'on',
      'N',
      'Off',
      'true',
      'null',
      '~',
      '',
      '<<',
      '=',
      '.',
      '-',
      '---',
      '...',
      '?',
      '.inf',
      '.nan',
    ],
    ...[
      '12:30:45',
      '1',
      '-1',
      '+1',
      '0x1f',
      '0o17',
      '017',
      '08',
      '1_000',
      '1e3',
      '.5',
      '1.',
      '1e999',
      '2001-01-01',
      '0b1',
    ],
    ...[
      'a b',
      ' a',
      'a ',
      'a: b',
      'a:',
      'a #b',
      '#a',
      '- a',
      '@a',
      '`a',
      '%a',
      '!a',
      '&a',
      '*a',
      '|',
      '>',
      '[a',
      '{a',
      ',',
    ],
    ...[
      "it's",
      '"q"',
      'back\\slash',
      'a\tb',
      'a\nb',
      'a\n\n b\n',
      '\n',
      'ünï',
      '漢字',
      '😀',
      'a\u2028b',
      'a\u0085b',
      '\u007f',
    ],
    ...[
      '\ufeff',
      'a\ufeff',
      '\ud7ff',
      '\ufffd',
      'x'.repeat(200),
      'constructor',
      '__proto__',
      'gke_p_z_c',
      'admin@k8s',
      'a/b:6443',
    ],
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
)

const text = fc.oneof(
  names,
  fc.constantFrom('https://a.test', 'https://b.test:6443/x', '/etc/ca.crt', 'default'),
)
const optional: { requiredKeys: [] } = { requiredKeys: [] }
const extensions = fc.uniqueArray(
  fc.record({ name: names, extension: fc.record({ last: text, on: fc.boolean() }) }),
  {
    maxLength: 2,
    selector: ({ name }) => name,
  },
)
const base64 = fc.constantFrom('', 'YWJj', 'LS0tLS0=')
const unknown = { comment: text, 'x-on': fc.boolean() }
const cluster = fc.record(
  {
    server: text,
    'tls-server-name': text,
    'insecure-skip-tls-verify': fc.boolean(),
    'certificate-authority': text,
    'certificate-authority-data': base64,
    'proxy-url': text,
    extensions,
    ...unknown,
  },
  optional,
)
const exec = fc.record(
  {
    apiVersion: fc.constant('client.authentication.k8s.io/v1'),
    command: text,
    args: fc.oneof(fc.constant(null), fc.array(text, { maxLength: 3 })),
    env: fc.oneof(
      fc.constant(null),
      fc.uniqueArray(fc.record({ name: fc.oneof(names, fc.constant('KAPIS_HOME')), value: text }), {
        maxLength: 3,
        selector: ({ name }) => name,
      }),
    ),
    interactiveMode: fc.constantFrom('Never', 'Always'),
    provideClusterInfo: fc.boolean(),
  },
  optional,
)
const user = fc.record(
  {
    token: text,
    username: text,
    password: text,
    'client-certificate-data': base64,
    'as-groups': fc.array(text, { maxLength: 2 }),
    'as-user-extra': fc.dictionary(names, fc.array(text, { maxLength: 2 }), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    exec,
    ...unknown,
  },
  optional,
)
const context = fc.record({ cluster: names, user: names, namespace: text, extensions, ...unknown }, optional)

function entries<T>(key: string, body: fc.Arbitrary<T>): fc.Arbitrary<Json> {
  const entry = fc.record({
    name: names,
    [key]: fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 9, arbitrary: body }),
  })
  const list = fc.uniqueArray(entry, { maxLength: 4, selector: ({ name }) => name })
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 9, arbitrary: list },
  ) as fc.Arbitrary<Json>
}

/** Generates whole configurations; `ours` generates entries that a login may have created. */
export function configs(ours: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  const any = fc.record(
    {
      apiVersion: fc.constant('v1'),
      kind: fc.constant('Config'),
      preferences: fc.constantFrom<Json>({}, { colors: true }),
      clusters: entries('cluster', cluster),
      users: entries('user', user),
      contexts: entries('context', context),
      'current-context': fc.oneof(names, fc.constant(null)),
      extensions,
      ...unknown,
    },
    optional,
  ) as fc.Arbitrary<Json>
  return fc.oneof({ weight: 2, arbitrary: any }, { weight: 2, arbitrary: fc.tuple(any, ours).map(merge) })
}

/** Adds the entries of another configuration; existing names are kept. */
function merge([base, more]: readonly [Json, Json]): Json {
  const result: Record<string, Json> = { ...Object(base) }
  for (const list of ['clusters', 'users', 'contexts']) {
    const old: readonly Json[] = Object(base)[list] ?? []
    const added: readonly Json[] = Object(more)[list] ?? []
    const taken = new Set(old.map(item => Object(item).name))
    result[list] = [...old, ...added.filter(item => !taken.has(Object(item).name))]
  }
  return result
}
