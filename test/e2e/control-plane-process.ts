import { dirname } from 'node:path'
import { launch } from '../../hack/controlplane/processes/launch.ts'
import { isAlive, stopProcess } from '../../hack/controlplane/processes/process-id.ts'
import { createProcessRecords } from '../../hack/controlplane/processes/records.ts'
import { waitReady } from '../../hack/controlplane/processes/wait-ready.ts'
import { setting } from './run.ts'

/** Stops or starts a process of the control plane, and waits until it has stopped or is ready. */
export async function component(verb: 'stop' | 'start' | 'restart', name: string, option?: '--no-wait') {
  const records = createProcessRecords(dirname(setting('KAPIS_CA')))
  const found = records.parts().find(candidate => candidate.name === name)
  if (found === undefined) throw new Error(`the control plane has no component ${name}`)
  if (verb !== 'start') {
    // Written before the signal: then the exit is intended.
    records.setComponent({ ...found, stopped: true })
    const id = records.pids().get(name)
    if (id !== undefined) await stopProcess(id)
    records.forgetPid(name)
  }
  const running = records.pids().get(name)
  if (verb !== 'stop' && (running === undefined || !isAlive(running))) {
    const { child, id } = await launch({ ...found, stopped: false }, records)
    child.unref()
    if (option !== '--no-wait') await waitReady(found, id, AbortSignal.timeout(60_000))
  }
  records.updateEnvPids()
}
