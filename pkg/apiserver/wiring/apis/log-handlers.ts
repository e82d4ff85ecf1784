import { tooManyRequests } from '../../../apierrors/status.ts'
import type { Handler } from '../../../apirequest/request-context.ts'
import { toResourceInfo } from '../../../apirequest/request-info.ts'
import type { Authorize } from '../../../authz/authorizer.ts'
import { defaultLimits } from '../../../logs/ingest/limits.ts'
import type { LogStore } from '../../../logs/store.ts'
import { createIngest, type IngestOptions, maxBodies } from '../../../platformapi/logging/v1alpha2/ingest.ts'
import { readForm } from '../../../platformapi/logging/v1alpha2/read-form.ts'
import { createLogApi, type LogApi, type LogApiOptions } from '../../../platformapi/logs/serve.ts'
import { createLogsqlApi } from '../../../platformapi/logsql/serve.ts'
import type { TimeSlices } from '../../../scheduling/time-slices.ts'
import { createFairQueue } from '../../filters/fair-queue.ts'

// Log shippers log each rejection as an error, so a burst from all nodes is queued.
const waitForSlotMs = 10_000
// Each request may occupy about 32 MiB.
const maxLogsqlQueries = 8

export type LogHandlers = { readonly logs: LogApi; readonly logsql: Handler; readonly ingest: Handler }

/** Creates the handlers that query and store log lines. */
export function createLogHandlers(parts: {
  readonly reading: LogApiOptions
  readonly timeSlices: TimeSlices
  /** Stores log lines. */
  readonly lines: Pick<LogStore, 'ingest'>
  readonly groupDomain: string
  readonly authorize: Authorize
  readonly observe: IngestOptions['observe']
}): LogHandlers {
  const { reading, timeSlices, lines, groupDomain, authorize, observe } = parts
  const queries = createFairQueue({
    seats: () => maxLogsqlQueries,
    waitMs: () => waitForSlotMs,
    rejection: () => tooManyRequests('too many queries that scan all lines are running; try again', 1),
  })
  const uploads = createFairQueue({
    seats: () => maxBodies,
    waitMs: () => waitForSlotMs,
    rejection: () => tooManyRequests('too many uploads in progress; retry later', 1),
  })
  // Ingest requires the same permission for every protocol: create `ingest` in the logging group.
  const sending = toResourceInfo({
    prefix: 'kapis',
    verb: 'create',
    group: `logging.${groupDomain}`,
    version: 'v1alpha2',
    resource: 'ingest',
  })
  const scanning = { ...reading, timeSlices, enter: queries.take }
  return {
    logs: createLogApi(scanning),
    logsql: createLogsqlApi({ ...scanning, readForm }),
    ingest: createIngest({
      store: lines,
      enter: uploads.take,
      limits: defaultLimits,
      authorize: identity => authorize(sending, identity),
      observe,
    }),
  }
}
