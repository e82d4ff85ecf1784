import { startControlPlane } from '../controlplane/control-plane.ts'
import { interrupted, orAborted } from '../controlplane/processes/interrupted.ts'
import { createProcessRecords } from '../controlplane/processes/records.ts'
import { childEnvironment, loadSettings } from '../controlplane/settings.ts'
import { isInUse } from '../controlplane/stop.ts'
import { aborted, type Outcome } from './totals.ts'

/** Starts control planes. If this process is interrupted, it exits when all of them are stopped. */
export function createClusters() {
  const signal = interrupted()
  const runs = new Set<Promise<unknown>>()
  signal.addEventListener('abort', async () => {
    await Promise.allSettled(runs)
    process.exit(process.exitCode ?? 130)
  })

  async function run<T>(
    env: NodeJS.ProcessEnv,
    work: (env: Record<string, string>) => Promise<T>,
  ): Promise<T> {
    const settings = loadSettings(env)
    if (isInUse(settings)) throw new Error(`${settings.runDir} is in use; choose another RUN_DIR`)
    const controlPlane = await startControlPlane(settings, signal)
    try {
      const addresses = createProcessRecords(settings.runDir).readEnv()
      return await orAborted(signal, work({ ...childEnvironment(), ...addresses, RUN_DIR: settings.runDir }))
    } finally {
      await controlPlane.stop()
    }
  }

  /**
   * Runs `work` with the variables of a separate control plane.
   *
   * @param env the settings of the control plane
   * @throws Error of `work`, or if the control plane does not start
   */
  function use<T>(env: NodeJS.ProcessEnv, work: (env: Record<string, string>) => Promise<T>): Promise<T> {
    const running = run(env, work)
    runs.add(running)
    return running
  }

  return {
    signal,
    use,
    /** Runs tests with a separate control plane. If it does not start, that is one failed test. */
    async with(runDir: string, test: (env: Record<string, string>) => Promise<Outcome>): Promise<Outcome> {
      try {
        return await use({ ...process.env, RUN_DIR: runDir }, test)
      } catch (error) {
        const reason = error instanceof Error ? error.message : error
        return aborted(`the control plane in ${runDir} failed: ${reason}`)
      }
    },
  }
}
