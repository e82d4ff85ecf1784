import { loadSettings } from './settings.ts'
import { down } from './stop.ts'

// make down: stops all processes of the run folder, including those that a crash has left.

const settings = loadSettings(process.env)
const stopped = await down(settings)
console.log(
  stopped.length > 0 ? `stopped ${stopped.join(', ')}` : `no processes are running in ${settings.runDir}`,
)
