import { createProcessRecords } from '../controlplane/processes/records.ts'
import { childEnvironment, loadSettings } from '../controlplane/settings.ts'
import { type Supervisor, startSupervisor } from '../controlplane/start-supervisor.ts'
import { findSupervisor } from '../controlplane/stop.ts'
import { aborted, type Outcome } from './totals.ts'

export type Clusters = {
  /**
   * Runs tests against a separate control plane, with its addresses in the environment. If it does
   * not start, that counts as one failed test.
   */
  readonly with: (runDir: string, test: (env: Record<string, string>) => Promise<Outcome>) => Promise<Outcome>
  readonly stop: () => Promise<void>
}

export function createClusters(): Clusters {
  const running = new Set<Supervisor>()
  return {
    async with(runDir, test) {
      const settings = loadSettings({ ...process.env, RUN_DIR: runDir })
      if (findSupervisor(settings) !== undefined) {
        return aborted(`other tests are running in ${settings.runDir}; choose another RUN_DIR`)
      }
      const supervisor = await startSupervisor(settings, ['--attached'])
      running.add(supervisor)
      try {
        await supervisor.ready
        const addresses = createProcessRecords(settings.runDir).readEnv()
        return await test({ ...childEnvironment(), ...addresses, RUN_DIR: settings.runDir })
      } catch (error) {
        const reason = error instanceof Error ? error.message : error
        return aborted(`the control plane in ${runDir} failed: ${reason}`)
      } finally {
        await supervisor.stop()
        running.delete(supervisor)
      }
    },
    async stop() {
      await Promise.all([...running].map(supervisor => supervisor.stop()))
    },
  }
}
