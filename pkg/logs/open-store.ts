import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LogStoreSecrets, LogsConfig } from '../config/logs.ts'
import type { Turns } from '../request/turns.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { LogStore } from './store.ts'

const megabyte = 1024 * 1024

/** One store, in which lines, the orchestrator's events and the audit log are streams of their own. */
export type LogStreams = {
  readonly lines: LogStore
  readonly events: LogStore
  readonly auditing: LogStore
  readonly close: () => Promise<void>
}

// Events are few beside lines: an eighth of the memory is enough for both of their streams.
const eventShare = 1 / 16
// Their texts are long.
const eventFlushLines = 8_192

/**
 * The log store of a configuration; undefined when there is none.
 *
 * @param turns of all long work, of what sends lines to the store too
 * @throws Error when a file that it names cannot be read, or the folder of the embedded store cannot be used
 */
export async function openLogStore(
  config: LogsConfig,
  secrets: LogStoreSecrets,
  { logger, turns }: { readonly logger: Logger; readonly turns: Turns },
): Promise<LogStreams | undefined> {
  if (config.store === 'none') return undefined
  const open =
    config.store === 'embedded'
      ? embedded(config, logger, turns)
      : openSearch(config, secrets, { logger, turns })
  const [lines, events, auditing] = await Promise.all([open('lines'), open('events'), open('auditing')])
  return {
    ...{ lines, events, auditing },
    close: async () => {
      await Promise.all([lines, events, auditing].map(store => store.close()))
    },
  }
}

type Stream = 'lines' | 'events' | 'auditing'
type Open = (stream: Stream) => Promise<LogStore>

/** Each stream in a folder of its own; those of events inside that of the lines. */
function embedded(config: LogsConfig, logger: Logger, turns: Turns): Open {
  const { folder, retentionDays, retentionMegabytes, memoryMegabytes } = config.embedded
  return async stream => {
    const { createEmbeddedStore } = await import('./embedded/embedded-store.ts')
    const isLines = stream === 'lines'
    const kept = isLines ? { retentionDays, retentionMegabytes } : config[stream]
    return createEmbeddedStore({
      folder: isLines ? folder : join(folder, stream),
      retention: { days: kept.retentionDays, bytes: kept.retentionMegabytes * megabyte },
      memoryBytes: memoryMegabytes * megabyte * (isLines ? 1 - 2 * eventShare : eventShare),
      ...(isLines ? {} : { flushLines: eventFlushLines }),
      turns,
      report: (message, err) => logger.error({ err, stream }, message),
    })
  }
}

/** Each stream in indices of its own: a dot, which no prefix has, keeps those of lines from taking the others in. */
function openSearch(
  config: LogsConfig,
  secrets: LogStoreSecrets,
  means: { readonly logger: Logger; readonly turns: Turns },
): Open {
  const { url, username, caFile, indexPrefix } = config.opensearch
  const engine = { url, username, ca: caFile === '' ? '' : readFileSync(caFile, 'utf8') }
  return async stream => {
    // Its client library takes a quarter of a second to load.
    const { createOpenSearchStore } = await import('./opensearch/store.ts')
    return createOpenSearchStore({
      engine,
      credentials: secrets,
      prefix: stream === 'lines' ? indexPrefix : `${stream}.${indexPrefix}`,
      ...means,
      // Lines are there as Fluent Bit itself leaves them, and are its owner's to delete.
      ...(stream === 'lines' ? {} : { retentionDays: config[stream].retentionDays }),
    })
  }
}
