import { dirname, join } from 'node:path'
import { output, setting } from './run.ts'

const repository = join(import.meta.dirname, '..', '..')

/** Stops or starts a process of the control plane, and waits until it has stopped or is ready. */
export async function part(verb: 'stop' | 'start' | 'restart', name: string, ...options: readonly string[]) {
  const script = join(repository, 'hack/controlplane/processes/component-command.ts')
  const env = { RUN_DIR: dirname(setting('KAPIS_CA')) }
  await output(process.execPath, [script, verb, name, ...options], {
    env,
    timeoutMs: 70_000,
    cwd: repository,
  })
}
