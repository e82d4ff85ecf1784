import { loadSettings } from './settings.ts'
import { startSupervisor } from './start-supervisor.ts'
import { isUp } from './stop.ts'

// make up: starts everything in the background. Returns when it is ready, or fails with the reason.

const settings = loadSettings(process.env)
if (isUp(settings)) {
  console.log(`already up: source ${settings.runDir}/env`)
  process.exit(0)
}
const supervisor = await startSupervisor(settings, [])
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    await supervisor.stop()
    process.exit(1)
  })
}
try {
  await supervisor.ready
  supervisor.release()
  console.log(`up: source ${settings.runDir}/env`)
} catch {
  // The supervisor has printed the reason, and exits when all programs are stopped.
  await supervisor.ended
  process.exit(1)
}
