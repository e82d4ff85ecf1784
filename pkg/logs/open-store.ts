import { readFileSync } from 'node:fs'
import type { LogStoreSecrets, LogsConfig } from '../config/logs.ts'
import type { Logger } from '../telemetry/logger.ts'
import { createOpenSearchStore } from './opensearch/store.ts'
import type { LogStore } from './store.ts'

/**
 * The log store of a configuration; undefined when there is none.
 *
 * @throws Error when a file that it names cannot be read
 */
export function openLogStore(
  config: LogsConfig,
  secrets: LogStoreSecrets,
  logger: Logger,
): LogStore | undefined {
  if (config.store === 'none') return undefined
  const { url, username, caFile, indexPrefix } = config.opensearch
  return createOpenSearchStore({
    engine: { url, username, ca: caFile === '' ? '' : readFileSync(caFile, 'utf8') },
    credentials: secrets,
    prefix: indexPrefix,
    logger,
  })
}
