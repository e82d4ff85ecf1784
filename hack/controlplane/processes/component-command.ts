import { loadSettings } from '../settings.ts'
import { launch } from './launch.ts'
import { isAlive, stopProcess } from './process-id.ts'
import { type Component, createProcessRecords } from './records.ts'
import { waitReady } from './wait-ready.ts'

// Stops and starts a component of a running control plane. Usage: component-command.ts
// stop|start|restart NAME [--no-wait]

const [verb = '', name = '', option] = process.argv.slice(2)
const settings = loadSettings(process.env)
const records = createProcessRecords(settings.runDir)
const part = records.parts().find(candidate => candidate.name === name)
if (part === undefined || !['stop', 'start', 'restart'].includes(verb)) {
  const known = records.parts().map(candidate => candidate.name)
  console.error(
    `usage: component-command.ts stop|start|restart NAME; components in ${settings.runDir}: ${known.join(', ') || 'none'}`,
  )
  process.exit(2)
}
if (verb !== 'start') await stop(part)
if (verb !== 'stop') await start(part)
records.updateEnvPids()
process.exit(0)

async function stop(running: Component): Promise<void> {
  // Written before the signal, so that the supervisor knows that the exit is intended.
  records.setComponent({ ...running, stopped: true })
  const id = records.pids().get(running.name)
  if (id !== undefined) await stopProcess(id)
  records.forgetPid(running.name)
  console.log(`stopped ${running.name}`)
}

async function start(component: Component): Promise<void> {
  const old = records.pids().get(component.name)
  if (old !== undefined && isAlive(old)) {
    console.log(`${component.name} is already running`)
    return
  }
  const { child, id } = await launch({ ...component, stopped: false }, records)
  child.unref()
  if (option !== '--no-wait') await waitReady(component, id, AbortSignal.timeout(60_000))
  console.log(`started ${component.name} (${id.pid})`)
}
