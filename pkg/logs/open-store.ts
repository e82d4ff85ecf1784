import { readFileSync } from 'node:fs'
import type { LogStoreSecrets, LogsConfig } from '../config/logs.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { LogStore } from './store.ts'

const megabyte = 1024 * 1024

/**
 * The log store of a configuration; undefined when there is none.
 *
 * @throws Error when a file that it names cannot be read, or the folder of the embedded store cannot be used
 */
export async function openLogStore(
  config: LogsConfig,
  secrets: LogStoreSecrets,
  logger: Logger,
): Promise<LogStore | undefined> {
  if (config.store === 'none') return undefined
  if (config.store === 'embedded') {
    const { createEmbeddedStore } = await import('./embedded/embedded-store.ts')
    const { folder, retentionDays, retentionMegabytes, memoryMegabytes } = config.embedded
    return createEmbeddedStore({
      folder,
      retention: { days: retentionDays, bytes: retentionMegabytes * megabyte },
      memoryBytes: memoryMegabytes * megabyte,
      report: (message, err) => logger.error({ err }, message),
    })
  }
  // Its client library takes a quarter of a second to load.
  const { createOpenSearchStore } = await import('./opensearch/store.ts')
  const { url, username, caFile, indexPrefix } = config.opensearch
  return createOpenSearchStore({
    engine: { url, username, ca: caFile === '' ? '' : readFileSync(caFile, 'utf8') },
    credentials: secrets,
    prefix: indexPrefix,
    logger,
  })
}
