import { startControlPlane } from './control-plane.ts'
import { interrupted } from './processes/interrupted.ts'
import { loadSettings } from './settings.ts'
import { isUp } from './stop.ts'

// make up: starts everything in the background. Returns when it is ready, or fails with the reason.

const settings = loadSettings(process.env)
if (isUp(settings)) {
  console.log(`already up: source ${settings.runDir}/env`)
  process.exit(0)
}
try {
  const controlPlane = await startControlPlane(settings, interrupted())
  controlPlane.release()
  console.log(`up: source ${settings.runDir}/env`)
  process.exit(0)
} catch {
  // The reason is printed before the programs are stopped.
  process.exit(1)
}
