import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setting } from '../e2e/run.ts'

/** The resources of a process as reported by Linux. */
export type ProcessUsage = { readonly pid: number; readonly megabytes: number; readonly handles: number }

/** Returns the current PID of a program, which a fault may have restarted. */
export function pidOf(name: string): number {
  const file = readFileSync(join(dirname(setting('KAPIS_CA')), 'env'), 'utf8')
  const pid = new RegExp(`^export KAPIS_PIDS='.*\\b(?<!-)${name}=(\\d+)`, 'm').exec(file)?.[1]
  if (pid === undefined) throw new Error(`${name} is not running`)
  return Number(pid)
}

export function readProcessUsage(pid: number): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
  return { pid, megabytes: Math.round(kilobytes / 1024), handles: readdirSync(`/proc/${pid}/fd`).length }
}

export function apiserverUsage(): ProcessUsage {
  return readProcessUsage(pidOf('apiserver'))
}
