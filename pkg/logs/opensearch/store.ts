import { Status } from '../../apierrors/status.ts'
import type { TimeSlices } from '../../scheduling/time-slices.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { createIngestRecords } from '../ingest/ingest-records.ts'
import type { LogStore } from '../store.ts'
import { appendBatch } from './append.ts'
import {
  createSearchClient,
  type SearchClient,
  type SearchCredentials,
  type SearchEngine,
  SearchEngineError,
} from './client.ts'
import { followRecords } from './follow.ts'
import { deleteExpired } from './retention.ts'
import { countByTime, countRecords, queryRecords } from './search.ts'
import { indexTemplate } from './template.ts'

export type OpenSearchOptions = {
  readonly engine: SearchEngine
  readonly credentials: SearchCredentials
  /** Prefix of the index names: `<prefix>-YYYY.MM.DD`. */
  readonly prefix: string
  readonly logger: Logger
  /** Time slices of the main thread, which parses batches. */
  readonly timeSlices: TimeSlices
  /** Number of days to keep, with today, of indices of Kapis; undefined for all. */
  readonly retentionDays?: number
  /** Delay in milliseconds before a rejected index template is sent again. Defaults to a minute. */
  readonly setUpAgainMs?: number
}

const setUpWithinMs = 10_000
const setUpAgainAfterMs = 60_000
const retentionMs = 3_600_000

/** Creates a log store in OpenSearch or Elasticsearch, compatible with Fluent Bit. */
export function createOpenSearchStore(options: OpenSearchOptions): LogStore {
  const { engine, credentials, prefix, logger, timeSlices, retentionDays } = options
  const { setUpAgainMs = setUpAgainAfterMs } = options
  const client = createSearchClient(engine, credentials)
  const search = { client, prefix }
  let setUp: Promise<void> | undefined
  let retrying: NodeJS.Timeout | undefined
  let expiring: NodeJS.Timeout | undefined
  let isClosed = false

  /** Creates the index template once, before the first line: it only applies to later indices. */
  function ready(): Promise<void> {
    setUp ??= prepare().catch(error => {
      setUp = undefined
      throw error
    })
    return setUp
  }

  async function prepare(): Promise<void> {
    const error = await putTemplate(client, prefix)
    if (error === undefined) return
    // Another template may have precedence, or Kapis may lack the permission. Both may change
    // later; until then lines are stored without this template.
    logger.warn({ err: error }, 'failed to create the index template of the log store')
    retrying = setTimeout(() => {
      setUp = undefined
    }, setUpAgainMs).unref()
  }

  async function expire(days: number): Promise<void> {
    try {
      const deleted = await deleteExpired(client, prefix, { days, nowMs: Date.now() })
      if (deleted.length > 0) logger.info({ indices: deleted }, 'deleted expired indices')
    } catch (error) {
      if (!isClosed) logger.warn({ err: error, prefix }, 'failed to delete expired indices')
    }
  }

  if (retentionDays !== undefined) {
    expiring = setInterval(() => void expire(retentionDays), retentionMs).unref()
    void expire(retentionDays)
  }

  const append: LogStore['append'] = async batch => {
    await ready()
    return appendBatch(client, prefix, batch)
  }

  return {
    append,
    ingest: createIngestRecords(append, timeSlices),
    query: (query, limits) => queryRecords(search, query, limits),
    statistics: (filter, limits) => countRecords(search, filter, limits),
    histogram: (filter, interval, limits) => countByTime(search, filter, interval, limits),
    follow: (filter, signal) => followRecords(search, filter, signal),
    async check() {
      try {
        // A search, because `/` requires permissions beyond these indices.
        const path = `/${prefix}-*/_search`
        const querystring = { size: '0', terminate_after: '1', track_total_hits: 'false' }
        await client.call({ method: 'GET', path, querystring, timeoutMs: 2_000 })
        return undefined
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
    async close() {
      isClosed = true
      clearInterval(expiring)
      clearTimeout(retrying)
      await client.close()
    },
  }
}

/** Creates the index template. @returns the error if the engine rejects it */
async function putTemplate(client: SearchClient, prefix: string): Promise<unknown> {
  const put = (rawType: 'wildcard' | 'keyword') =>
    client.call({
      method: 'PUT',
      path: `/_index_template/kapis-${prefix}`,
      body: indexTemplate(prefix, rawType),
      timeoutMs: setUpWithinMs,
    })
  try {
    await put('wildcard').catch(error => {
      if (isPermanent(error)) return put('keyword')
      throw error
    })
    return undefined
  } catch (error) {
    if (isPermanent(error)) return error
    throw error
  }
}

/** Reports whether an error is permanent, so that an immediate retry is pointless. */
function isPermanent(error: unknown): boolean {
  if (!(error instanceof Status && error.cause instanceof SearchEngineError)) return false
  const { code } = error.cause
  return code >= 400 && code < 500 && code !== 429
}
