import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { repository } from '../../hack/controlplane/settings.ts'
import { readLockfile } from '../../hack/supply-chain/lockfile.ts'
import { output, scratch } from '../e2e/run.ts'

let folder: Promise<string> | undefined

/**
 * Returns a folder with the content of /kapis in the image: compiled programs and production
 * dependencies. Built once per test run.
 */
export function compiledPrograms(): Promise<string> {
  folder ??= compile(join(scratch, 'kapis'))
  return folder
}

async function compile(target: string): Promise<string> {
  await output(join(repository, 'hack/build.sh'), [target], { timeoutMs: 120_000 })
  const text = readFileSync(join(repository, 'package-lock.json'), 'utf8')
  for (const { path, isShipped } of readLockfile({ path: 'package-lock.json', text })) {
    const from = join(repository, path)
    // Optional packages for other platforms are not installed, and skipped.
    if (!isShipped || !existsSync(from)) continue
    // Nested packages have separate entries.
    const filter = (file: string) => basename(file) !== 'node_modules'
    cpSync(from, join(target, path), { recursive: true, filter })
  }
  cpSync(join(repository, 'package.json'), join(target, 'package.json'))
  symlinkSync(join(repository, 'manifests'), join(target, 'manifests'))
  return target
}
