import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process that was started here; the stamp distinguishes later ones. */
export type ProcessId = { readonly pid: number; readonly stamp: string }

/** Returns the start time of the process; undefined if it does not exist or is a zombie. */
export function processStamp(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
      return line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '').replaceAll(/\s+/g, '_')
    }
    // The second field, the program name in parentheses, may contain spaces and parentheses.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

export function identify(pid: number): ProcessId {
  return { pid, stamp: processStamp(pid) ?? 'gone' }
}

export function isAlive({ pid, stamp }: ProcessId): boolean {
  return processStamp(pid) === stamp
}

/** Sends SIGTERM to the group, then SIGKILL. Returns when the process has exited. */
export async function stopProcess(id: ProcessId, graceMs = 5000): Promise<void> {
  if (!isAlive(id)) return
  signalGroup(id.pid, 'SIGTERM')
  const deadline = Date.now() + graceMs
  while (isAlive(id) && Date.now() < deadline) await sleep(20)
  // Kills processes that the leader has left in its group.
  signalGroup(id.pid, 'SIGKILL')
  while (isAlive(id)) await sleep(20)
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
