import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LogStoreSecrets, LogsConfig } from '../config/sections/logs.ts'
import type { TimeSlices } from '../scheduling/time-slices.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { LogStore } from './store.ts'

const megabyte = 1024 * 1024

/** The log stores, each with its own retention: lines, events, audit log, sessions. */
export type LogStreams = {
  readonly lines: LogStore
  readonly events: LogStore
  readonly auditing: LogStore
  readonly recordings: LogStore
  readonly close: () => Promise<void>
}

type StoreDependencies = { readonly logger: Logger; readonly timeSlices: TimeSlices }

/**
 * Opens the configured log stores.
 *
 * @returns undefined if none is configured
 * @throws Error if a configured file cannot be read, or the folder of the embedded store is not
 * usable
 */
export async function openLogStore(
  config: LogsConfig,
  secrets: LogStoreSecrets,
  dependencies: StoreDependencies,
): Promise<LogStreams | undefined> {
  switch (config.store) {
    case 'none':
      return undefined
    case 'embedded':
      return openEmbedded(config, dependencies)
    case 'opensearch':
      return openOpenSearch(config, secrets, dependencies)
  }
}

/** Opens embedded stores, each in its own folder. The folder of lines contains the others. */
async function openEmbedded(config: LogsConfig, { logger }: StoreDependencies): Promise<LogStreams> {
  const { folder, retentionDays, retentionMegabytes, memoryMegabytes, namespaces } = config.embedded
  const { openEmbeddedStores } = await import('./embedded/embedded-store.ts')
  const settingsOf = (path: string, kept: RetentionConfig) => ({
    folder: path,
    retention: { days: kept.retentionDays, bytes: kept.retentionMegabytes * megabyte },
  })
  const { stores, close } = await openEmbeddedStores({
    stores: {
      lines: {
        ...settingsOf(folder, { retentionDays, retentionMegabytes }),
        namespaces: namespaces.map(rule => ({
          name: rule.name,
          ...(rule.retentionDays === undefined ? {} : { retentionDays: rule.retentionDays }),
          ...(rule.quotaMegabytes === undefined ? {} : { quotaBytes: rule.quotaMegabytes * megabyte }),
        })),
      },
      events: settingsOf(join(folder, 'events'), config.events),
      auditing: settingsOf(join(folder, 'auditing'), config.auditing),
      recordings: settingsOf(join(folder, 'recordings'), config.recordings),
    },
    memoryBytes: memoryMegabytes * megabyte,
    report: (message, err, stream) => logger.error({ err, stream }, message),
  })
  return { ...stores, close }
}

type RetentionConfig = { readonly retentionDays: number; readonly retentionMegabytes: number }

/**
 * Opens stores in OpenSearch, each with its index prefix. The configured prefix has no dots, so
 * `events.` cannot collide with it.
 */
async function openOpenSearch(
  config: LogsConfig,
  secrets: LogStoreSecrets,
  dependencies: StoreDependencies,
): Promise<LogStreams> {
  const { url, username, caFile, indexPrefix } = config.opensearch
  const engine = { url, username, ca: caFile === '' ? '' : readFileSync(caFile, 'utf8') }
  // Loaded only if needed: the client library takes 250 ms to load.
  const { createOpenSearchStore } = await import('./opensearch/store.ts')
  const open = (prefix: string, retentionDays?: number) =>
    createOpenSearchStore({
      ...{ engine, credentials: secrets, prefix, ...dependencies },
      ...(retentionDays === undefined ? {} : { retentionDays }),
    })
  const stores = {
    // Without retention: Fluent Bit may write these indices directly, so their owner deletes them.
    lines: open(indexPrefix),
    events: open(`events.${indexPrefix}`, config.events.retentionDays),
    auditing: open(`auditing.${indexPrefix}`, config.auditing.retentionDays),
    recordings: open(`recordings.${indexPrefix}`, config.recordings.retentionDays),
  }
  return {
    ...stores,
    close: async () => {
      await Promise.all(Object.values(stores).map(store => store.close()))
    },
  }
}
