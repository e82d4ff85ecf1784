import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, type ProcessId, stopProcess } from './processes/process-id.ts'
import { createProcessRecords, startOrder } from './processes/records.ts'
import type { Settings } from './settings.ts'

/** Longer than the supervisor needs to stop all programs with their grace periods. */
const supervisorWithinMs = 45_000

/**
 * Returns a recorded process if it is running.
 *
 * @param name of a component, or `supervisor`: the process that stops all of them when it ends
 */
function findProcess(runDir: string, name: string): ProcessId | undefined {
  const id = createProcessRecords(runDir).pids().get(name)
  return id !== undefined && isAlive(id) ? id : undefined
}

/** Reports whether a process uses the run folder that stops the programs when it ends. */
function isSupervised({ runDir }: Settings): boolean {
  return findProcess(runDir, 'supervisor') !== undefined
}

/** Reports whether all programs run, and were not left by a killed supervisor. */
export function isUp(settings: Settings): boolean {
  const { runDir } = settings
  const isReady = existsSync(join(runDir, 'env')) && findProcess(runDir, 'kube-apiserver') !== undefined
  return isReady && (isSupervised(settings) || !createProcessRecords(runDir).pids().has('supervisor'))
}

export function isInUse(settings: Settings): boolean {
  return isSupervised(settings) || isUp(settings)
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
  const supervisor = findProcess(settings.runDir, 'supervisor')
  const running = startOrder.filter(name => findProcess(settings.runDir, name) !== undefined)
  if (supervisor !== undefined) {
    process.kill(supervisor.pid, 'SIGTERM')
    const deadline = Date.now() + supervisorWithinMs
    while (isAlive(supervisor) && Date.now() < deadline) await sleep(50)
    if (isAlive(supervisor)) process.kill(supervisor.pid, 'SIGKILL')
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
