import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, type ProcessId, stopProcess } from './processes/process-id.ts'
import { createProcessRecords, startOrder } from './processes/records.ts'
import type { Settings } from './settings.ts'

/** Longer than the supervisor needs to stop all programs with their grace periods. */
const supervisorWithinMs = 45_000

/** Returns the supervisor of a run folder if it is running. */
export function findSupervisor({ runDir }: Settings): ProcessId | undefined {
  const id = createProcessRecords(runDir).pids().get('supervisor')
  return id !== undefined && isAlive(id) ? id : undefined
}

export function isUp(settings: Settings): boolean {
  return findSupervisor(settings) !== undefined && existsSync(join(settings.runDir, 'env'))
}

/** Stops the recorded processes in reverse order, and removes files that affect later runs. */
export async function stopComponents({ runDir }: Settings): Promise<string[]> {
  rmSync(join(runDir, 'env'), { force: true })
  const records = createProcessRecords(runDir)
  const pids = records.pids()
  const stopped: string[] = []
  for (const name of startOrder.toReversed()) {
    const id = pids.get(name)
    if (id === undefined) continue
    if (isAlive(id)) stopped.push(name)
    await stopProcess(id)
    records.forgetPid(name)
  }
  removeSocketFolder(runDir)
  return stopped
}

/** Stops all processes of a run folder, even if the supervisor was killed. */
export async function down(settings: Settings): Promise<string[]> {
  const supervisor = findSupervisor(settings)
  const pids = createProcessRecords(settings.runDir).pids()
  const running = startOrder.filter(name => {
    const id = pids.get(name)
    return id !== undefined && isAlive(id)
  })
  if (supervisor !== undefined) {
    process.kill(supervisor.pid, 'SIGTERM')
    const deadline = Date.now() + supervisorWithinMs
    while (isAlive(supervisor) && Date.now() < deadline) await sleep(50)
    await stopProcess(supervisor)
  }
  await stopComponents(settings)
  return running
}

function removeSocketFolder(runDir: string): void {
  const note = join(runDir, 'socket-folder')
  if (!existsSync(note)) return
  rmSync(readFileSync(note, 'utf8'), { recursive: true, force: true })
  rmSync(note)
}
