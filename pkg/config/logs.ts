import type { Fields } from './fields.ts'
import { integer, seconds, text } from './fields.ts'

export type LogStoreKind = 'none' | 'embedded' | 'opensearch'

/** Where log lines are kept, and what a question about them may cost. */
export type LogsConfig = {
  readonly store: LogStoreKind
  readonly queryTimeoutSeconds: number
  readonly exportLimit: number
  readonly embedded: {
    readonly folder: string
    readonly retentionDays: number
    readonly retentionMegabytes: number
    readonly memoryMegabytes: number
  }
  readonly opensearch: {
    readonly url: string
    readonly username: string
    /** A PEM file; '' for the authorities that Node.js knows. */
    readonly caFile: string
    readonly indexPrefix: string
  }
  /** The orchestrator's events. */
  readonly events: EventStreamConfig
  /** Kapis' own audit log, when there is one. */
  readonly auditing: EventStreamConfig
}

/** How long events of one kind are kept; by size, in the embedded store alone. */
export type EventStreamConfig = {
  readonly enabled: boolean
  readonly retentionDays: number
  readonly retentionMegabytes: number
}

/** What Kapis signs on to the log store with. */
export type LogStoreSecrets = { readonly password: string; readonly apiKey: string }

export const logsMembers = [
  'store',
  'queryTimeoutSeconds',
  'exportLimit',
  'embedded',
  'opensearch',
  'events',
  'auditing',
]

export function parseLogs(fields: Fields): { readonly logs: LogsConfig; readonly secrets: LogStoreSecrets } {
  const store = fields.choice('store', ['none', 'embedded', 'opensearch'])
  const engine = fields.object('opensearch', [
    'url',
    'username',
    'password',
    'apiKey',
    'caFile',
    'indexPrefix',
  ])
  const url = text(engine, 'url', { default: '' })
  const given = store === 'opensearch' || url !== ''
  if (given && !/^https?:\/\/[^/?#@]+\/?$/.test(url)) {
    engine.problem(
      'url',
      'must be an http(s) URL without user, path or query, such as https://opensearch:9200',
    )
  }
  const username = text(engine, 'username', { default: '' })
  const secrets = {
    password: text(engine, 'password', { default: '' }),
    apiKey: text(engine, 'apiKey', { default: '' }),
  }
  if (secrets.apiKey !== '' && username !== '') engine.problem('apiKey', 'excludes logs.opensearch.username')
  if (secrets.password !== '' && username === '') engine.problem('password', 'needs logs.opensearch.username')
  const logs = {
    store,
    queryTimeoutSeconds: seconds(fields, 'queryTimeoutSeconds', { default: 30, min: 1, max: 600 }),
    exportLimit: integer(fields, 'exportLimit', { default: 100_000, min: 1, max: 1_000_000_000 }),
    embedded: parseEmbedded(fields),
    opensearch: {
      url,
      username,
      caFile: text(engine, 'caFile', { default: '' }),
      indexPrefix: text(engine, 'indexPrefix', {
        default: 'fluentbit',
        pattern: /^[a-z0-9][a-z0-9_-]{0,99}$/,
        is: 'lower-case letters, digits, - and _',
      }),
    },
    events: parseStream(fields, 'events'),
    auditing: parseStream(fields, 'auditing'),
  }
  return { logs, secrets }
}

function parseEmbedded(fields: Fields): LogsConfig['embedded'] {
  const embedded = fields.object('embedded', [
    'folder',
    'retentionDays',
    'retentionMegabytes',
    'memoryMegabytes',
  ])
  return {
    folder: text(embedded, 'folder', { default: '/var/lib/kapis/logs' }),
    retentionDays: integer(embedded, 'retentionDays', { default: 7, min: 1, max: 3650 }),
    retentionMegabytes: integer(embedded, 'retentionMegabytes', {
      default: 20_480,
      min: 64,
      max: 1_000_000_000,
    }),
    memoryMegabytes: integer(embedded, 'memoryMegabytes', { default: 512, min: 192, max: 65_536 }),
  }
}

function parseStream(fields: Fields, name: string): EventStreamConfig {
  const stream = fields.object(name, ['enabled', 'retentionDays', 'retentionMegabytes'])
  return {
    enabled: stream.boolean('enabled', true),
    retentionDays: integer(stream, 'retentionDays', { default: 7, min: 1, max: 3650 }),
    retentionMegabytes: integer(stream, 'retentionMegabytes', {
      default: 1024,
      min: 16,
      max: 1_000_000_000,
    }),
  }
}
