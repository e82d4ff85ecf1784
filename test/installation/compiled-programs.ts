import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../hack/controlplane/settings.ts'
import { output, scratch } from '../e2e/run.ts'

let folder: Promise<string> | undefined

/** What the image has in /kapis, made once for a test run. */
export function compiledPrograms(): Promise<string> {
  folder ??= compile(join(scratch, 'kapis'))
  return folder
}

async function compile(target: string): Promise<string> {
  await output(join(repository, 'hack/build.sh'), [target], { timeoutMs: 120_000 })
  for (const name of ['node_modules', 'manifests']) symlinkSync(join(repository, name), join(target, name))
  return target
}
