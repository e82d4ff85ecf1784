import { setTimeout as sleep } from 'node:timers/promises'
import { renderKube } from '../../pkg/apierrors/render-kube.ts'
import { startLoopback, toExchange } from '../../pkg/apirequest/fixtures.ts'
import type { LogStore } from '../../pkg/logs/store.ts'
import { readForm } from '../../pkg/platformapi/logging/v1alpha2/read-form.ts'
import { unlimitedConcurrency } from '../../pkg/platformapi/logs/fixtures.ts'
import { createLogsqlApi } from '../../pkg/platformapi/logsql/serve.ts'
import { createTimeSlices } from '../../pkg/scheduling/time-slices.ts'

export type KapisLogsql = {
  readonly send: (endpoint: string, parameters: Readonly<Record<string, string>>) => Promise<string>
  readonly stop: () => Promise<void>
}

/**
 * Starts the query API of Kapis on a store, for a user who may read the logs of some namespaces.
 */
export async function startKapisLogsql(
  store: LogStore,
  readable: 'everywhere' | readonly string[],
  timeoutMs: number,
): Promise<KapisLogsql> {
  const face = createLogsqlApi({
    store,
    readable: async () => readable,
    created: () => new Map(readable === 'everywhere' ? [] : readable.map(name => [name, 0])),
    limits: () => ({ queryTimeoutSeconds: timeoutMs / 1000, exportLimit: 0 }),
    closing: new AbortController().signal,
    concurrency: unlimitedConcurrency,
    timeSlices: createTimeSlices(),
    readForm,
    enter: () => ({ leave: () => undefined }),
  })
  const loopback = await startLoopback(async (req, res) => {
    try {
      await face(toExchange(req, res))
    } catch (error) {
      renderKube(res, error)
    }
  })
  return {
    send: async (endpoint, parameters) => {
      const url = `http://127.0.0.1:${loopback.port}/kapis/logging.kapis.io/v1alpha2/select/logsql/${endpoint}`
      const response = await fetch(url, { method: 'POST', body: new URLSearchParams(parameters) })
      const text = await response.text()
      if (!response.ok) throw new Error(`Kapis: ${text}`)
      return text
    },
    stop: async () => {
      await loopback.close()
      await sleep(0)
    },
  }
}
