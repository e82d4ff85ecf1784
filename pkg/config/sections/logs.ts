import { z } from 'zod'
import {
  boolean,
  choice,
  integer,
  optionalInteger,
  requiredText,
  secretLine,
  section,
  text,
} from '../option.ts'
import { recordings } from './recordings.ts'

const days = { default: 7, min: 1, max: 3650 }
const maxMegabytes = 1_000_000_000

const namespaceRule = section({
  name: requiredText({
    pattern: /^[a-z0-9*-]{1,253}$/,
    is: 'a name of a namespace, with * for any characters',
    description: 'Name of the namespaces, with `*` for any characters: `dev-*`.',
  }),
  retentionDays: optionalInteger({
    ...{ min: 1, max: 3650 },
    description:
      'Number of days (UTC) that their lines are kept, including today; at most `logs.embedded.retentionDays`, which is the default.',
  }),
  quotaMegabytes: optionalInteger({
    ...{ min: 1, max: maxMegabytes },
    description:
      'Maximum size in MiB of the lines of each of them that arrive in a day (UTC); further lines are rejected.',
  }),
})

const embedded = section({
  folder: text({
    default: '/var/lib/kapis/logs',
    env: 'KAPIS_LOGS_EMBEDDED_FOLDER',
    description: 'Folder of the embedded store: a dedicated volume, used by one process at a time.',
  }),
  retentionDays: integer({
    ...days,
    description: 'Number of days (UTC) that lines are kept, including today.',
  }),
  retentionMegabytes: integer({
    default: 20_480,
    min: 64,
    max: maxMegabytes,
    description:
      'Maximum size of stored lines on the disk; the oldest are deleted first. Leave a tenth of the volume free.',
  }),
  memoryMegabytes: integer({
    default: 512,
    min: 192,
    max: 65_536,
    description: 'Memory limit for the processes of the embedded store.',
  }),
  namespaces: z.array(namespaceRule, { error: 'must be a list' }).default([]).meta({
    description:
      'Retention and quota of namespaces: a list of `name` (with `*` for any characters), `retentionDays` and `quotaMegabytes`; the first matching name applies ([Logs](logs.md#retention-and-quota-of-namespaces)).',
  }),
}).superRefine(({ retentionDays, namespaces }, { addIssue }) => {
  // Such a rule would have no effect: the store removes files by its own retention.
  for (const [i, { retentionDays: days = 0 }] of namespaces.entries()) {
    const message = `must be at most logs.embedded.retentionDays (${retentionDays}), not ${days}`
    if (days > retentionDays) addIssue({ code: 'custom', path: ['namespaces', i, 'retentionDays'], message })
  }
})

const opensearch = section({
  url: text({
    default: '',
    env: 'KAPIS_LOGS_OPENSEARCH_URL',
    description: 'URL of OpenSearch 1 to 3 or Elasticsearch 7.10 to 9, such as `https://opensearch:9200`.',
  }),
  username: text({
    default: '',
    env: 'KAPIS_LOGS_OPENSEARCH_USERNAME',
    description: 'User for basic authentication; empty for none.',
  }),
  password: text({ ...secretLine, default: '', description: 'Its password.' }),
  apiKey: text({ ...secretLine, default: '', description: 'An API key instead of user and password.' }),
  caFile: text({
    default: '',
    env: 'KAPIS_LOGS_OPENSEARCH_CA_FILE',
    description: 'PEM file with its CA certificate; empty for the CAs of the system.',
  }),
  indexPrefix: text({
    default: 'fluentbit',
    pattern: /^[a-z0-9][a-z0-9_-]{0,99}$/,
    is: 'lower-case letters, digits, - and _',
    description:
      'Indices are `<prefix>-YYYY.MM.DD`, as Fluent Bit names them with Logstash_Format, so lines that it has stored there are found.',
  }),
}).superRefine(({ username, password, apiKey }, { addIssue }) => {
  const problem = (name: string, message: string) => addIssue({ code: 'custom', path: [name], message })
  if (apiKey !== '' && username !== '') problem('apiKey', 'cannot be combined with logs.opensearch.username')
  if (password !== '' && username === '') problem('password', 'requires logs.opensearch.username')
})

/** The options of a kind of events; the limit by size only applies to the embedded store. */
function eventStream(notes: { readonly enabled: string; readonly kept: string }) {
  return section({
    enabled: boolean({ default: true, description: notes.enabled }),
    retentionDays: integer({ ...days, description: notes.kept }),
    retentionMegabytes: integer({
      default: 1024,
      min: 16,
      max: maxMegabytes,
      description: 'Maximum size on the disk of the embedded store, in MiB.',
    }),
  }).prefault({})
}

/** The log store and the limits of its queries. */
export const logs = section({
  store: choice({
    of: ['none', 'embedded', 'opensearch'],
    default: 'none',
    env: 'KAPIS_LOGS_STORE',
    description:
      'Where log lines are stored: `none` (the log API responds with 503), `embedded` (a folder, for one replica) or `opensearch`.',
  }),
  queryTimeoutSeconds: integer({
    default: 30,
    min: 1,
    max: 600,
    isReloaded: true,
    description: 'Time limit of a log query, in seconds; beyond it 504.',
  }),
  exportLimit: integer({
    default: 0,
    min: 0,
    max: 1_000_000_000,
    isReloaded: true,
    description: 'Maximum number of lines of one export, 0 for no limit; a larger export is rejected (400).',
  }),
  embedded: embedded.prefault({}),
  opensearch: opensearch.prefault({}),
  events: eventStream({
    enabled: 'Whether Kubernetes events are watched and stored.',
    kept: 'Number of days (UTC) that events are kept, including today.',
  }),
  auditing: eventStream({
    enabled: 'Whether audit events are stored in the log store too.',
    kept: 'Number of days (UTC) that audit events are kept, including today.',
  }),
  recordings: recordings.prefault({}),
})
  .refine(({ store, recordings: { policies } }) => store !== 'none' || policies.length === 0, {
    path: ['recordings', 'policies'],
    error: 'requires a log store (logs.store)',
  })
  .refine(
    ({ store, opensearch: { url } }) =>
      (store !== 'opensearch' && url === '') || /^https?:\/\/[^/?#@]+\/?$/.test(url),
    {
      path: ['opensearch', 'url'],
      error: 'must be an http(s) URL without user, path or query, such as https://opensearch:9200',
    },
  )

type LogsSection = z.output<typeof logs>

/** The credentials of Kapis at the log store. */
export type LogStoreSecrets = Readonly<Pick<LogsSection['opensearch'], 'password' | 'apiKey'>>
/** The log store without secrets. */
export type LogsConfig = Readonly<Omit<LogsSection, 'opensearch'>> & {
  readonly opensearch: Readonly<Omit<LogsSection['opensearch'], keyof LogStoreSecrets>>
}

export function withoutSecrets(section: LogsSection): {
  readonly logs: LogsConfig
  readonly secrets: LogStoreSecrets
} {
  const { password, apiKey, ...opensearch } = section.opensearch
  return { logs: { ...section, opensearch }, secrets: { password, apiKey } }
}
