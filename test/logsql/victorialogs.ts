import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatJson } from '../../pkg/logs/field-values.ts'
import { toRow } from '../../pkg/logs/logsql/row.ts'
import type { LogRecord } from '../../pkg/logs/record.ts'
import { output } from '../e2e/run.ts'

export const victoriaLogsVersion = '1.52.1'
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kapis/victorialogs')

/** Returns the path of VictoriaLogs, which is built from its Go module. */
export async function victoriaLogs(): Promise<string> {
  const folder = join(cache, victoriaLogsVersion)
  const program = join(folder, 'victoria-logs')
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  const module = `github.com/VictoriaMetrics/VictoriaLogs/app/victoria-logs@v${victoriaLogsVersion}`
  await output('go', ['install', module], { env: { CGO_ENABLED: '0', GOBIN: folder }, timeoutMs: 1_800_000 })
  return program
}

export type VictoriaLogs = {
  readonly url: string
  /** Returns the response to a request below /select/logsql/. */
  readonly send: (path: string, parameters: Readonly<Record<string, string>>) => Promise<string>
  readonly load: (records: readonly LogRecord[]) => Promise<void>
  readonly stop: () => Promise<void>
}

export async function startVictoriaLogs(
  program: string,
  folder: string,
  port: number,
  timeoutMs: number,
): Promise<VictoriaLogs> {
  const url = `http://127.0.0.1:${port}`
  const child: ChildProcess = spawn(
    program,
    [
      ...[`-httpListenAddr=127.0.0.1:${port}`, `-storageDataPath=${folder}`, '-retentionPeriod=10y'],
      ...['-loggerLevel=ERROR', `-search.maxQueryDuration=${timeoutMs}ms`, '-memory.allowedBytes=512MiB'],
    ],
    { stdio: ['ignore', 'inherit', 'inherit'], env: { TZ: 'UTC' } },
  )
  for (let tries = 0; ; tries++) {
    const isReady = await fetch(`${url}/health`).then(
      response => response.ok,
      () => false,
    )
    if (isReady) break
    if (tries === 100) throw new Error('VictoriaLogs does not start')
    await sleep(200)
  }
  return {
    url,
    send: async (path, parameters) => {
      const body = new URLSearchParams(parameters)
      const response = await fetch(`${url}/select/logsql/${path}`, { method: 'POST', body })
      const text = await response.text()
      if (!response.ok) throw new Error(`VictoriaLogs: ${text}`)
      return text
    },
    load: async records => {
      for (let at = 0; at < records.length; at += 5000) {
        const body = records
          .slice(at, at + 5000)
          .map(record => `${formatJson(toDocument(record))}\n`)
          .join('')
        const parameters = '_stream_fields=namespace,pod,container'
        const response = await fetch(`${url}/insert/jsonline?${parameters}`, { method: 'POST', body })
        if (!response.ok) throw new Error(await response.text())
      }
      await fetch(`${url}/internal/force_flush`)
    },
    stop: async () => {
      child.kill('SIGTERM')
      const { promise, resolve } = Promise.withResolvers<void>()
      child.once('exit', () => resolve())
      await promise
    },
  }
}

/** Returns a line with its fields in Kapis, except for those that VictoriaLogs creates itself. */
function toDocument(record: LogRecord): object {
  const made = ['_stream', '_stream_id']
  return Object.fromEntries([...toRow(record)].filter(([name]) => !made.includes(name)))
}
