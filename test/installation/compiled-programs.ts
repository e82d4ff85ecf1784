import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join, matchesGlob, sep } from 'node:path'
import { repository } from '../../hack/controlplane/settings.ts'
import { readLockfile } from '../../hack/supply-chain/lockfile.ts'
import { output, scratch } from '../e2e/run.ts'

let folder: Promise<string> | undefined

/** What the image has in /kapis, made once for a test run: no package for development, and no file that the Dockerfile leaves out. */
export function compiledPrograms(): Promise<string> {
  folder ??= compile(join(scratch, 'kapis'))
  return folder
}

async function compile(target: string): Promise<string> {
  await output(join(repository, 'hack/build.sh'), [target], { timeoutMs: 120_000 })
  const read = (path: string) => readFileSync(join(repository, path), 'utf8')
  const leftOut = [...read('Dockerfile').matchAll(/-name '([^']+)'/g)].map(([, pattern = '']) => pattern)
  if (leftOut.length < 3) throw new Error('the Dockerfile leaves other files out than this reads')
  for (const { path, isShipped } of readLockfile({
    path: 'package-lock.json',
    text: read('package-lock.json'),
  })) {
    const from = join(repository, path)
    // Those for other systems are not installed.
    if (!isShipped || !existsSync(from)) continue
    cpSync(from, join(target, path), {
      recursive: true,
      filter: file => {
        const name = file.slice(file.lastIndexOf(sep) + 1)
        // Packages inside of packages have lines of their own.
        return name !== 'node_modules' && !leftOut.some(pattern => matchesGlob(name, pattern))
      },
    })
  }
  symlinkSync(join(repository, 'manifests'), join(target, 'manifests'))
  return target
}
