import type { Handler } from '../../../apirequest/request-context.ts'
import type { Config } from '../../../config/config.ts'
import type { ClientAddress } from '../../../httpserver/request/client-address.ts'
import type { LogStore } from '../../../logs/store.ts'
import { createSessionRecordingApi } from '../../../platformapi/logging/v1alpha2/session-recordings.ts'
import type { LogConcurrency } from '../../../platformapi/logs/concurrency-limits.ts'
import { createSessionRecording, type SessionRecording } from '../../../proxy/session-recording.ts'
import { createPolicies } from '../../../recording/policy.ts'
import { createRecorder } from '../../../recording/recorder.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { counter, type Registry } from '../../../telemetry/metrics.ts'

export type SessionRecordings = {
  readonly proxied: SessionRecording
  /** Serves the recordings; undefined without a log store. */
  readonly serve: Handler | undefined
  readonly stop: () => Promise<void>
}

const none: SessionRecordings = {
  proxied: {
    begin: async () => undefined,
    openExec: (_exchange, _target, { open, events }) => open(events),
    assertNotBypassed: () => undefined,
  },
  serve: undefined,
  stop: async () => undefined,
}

/** Connects the recording of exec and attach with the stream that stores the recordings. */
export function createSessionRecordings(options: {
  readonly store: LogStore | undefined
  readonly live: () => Config
  readonly clientAddress: ClientAddress
  readonly created: () => ReadonlyMap<string, number>
  readonly concurrency: LogConcurrency
  readonly logger: Logger
  readonly registry: Registry
}): SessionRecordings {
  const { store, live, clientAddress, created, concurrency, logger, registry } = options
  if (store === undefined) return none
  const settings = () => live().logs.recordings
  const failures = counter(registry, {
    name: 'kapis_session_recording_failures_total',
    help: 'Recordings that could not be stored completely. Their sessions were ended.',
  })
  const recorder = createRecorder({ store, maxBytes: () => settings().maxMegabytes * 1024 * 1024 })
  return {
    proxied: createSessionRecording({
      policies: createPolicies(() => settings().policies),
      ...{ recorder, clientAddress, logger },
      failed: () => failures.inc(),
    }),
    serve: createSessionRecordingApi({ store, created, concurrency, limits: () => live().logs }),
    stop: recorder.stop,
  }
}
