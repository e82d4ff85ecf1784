import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withLock } from '../controlplane/processes/lock-file.ts'

/**
 * Builds Helm from its Go module if it is not in the shared cache, which takes about 30 s on two
 * cores.
 *
 * @throws Error without Go, or with the output of the compiler
 */
export async function ensureHelm(say: (line: string) => void): Promise<string> {
  const sums = readFileSync(join(import.meta.dirname, 'go.sum'))
  const key = createHash('sha256').update(sums).digest('hex').slice(0, 12)
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kapis/helm')
  const helm = join(folder, `helm-${key}-${process.arch}`)
  if (existsSync(helm)) return helm
  mkdirSync(folder, { recursive: true })
  return withLock(`${helm}.lock`, say, async () => {
    if (existsSync(helm)) return helm
    say('building helm (about 30 s on two cores the first time)')
    const args = ['build', '-trimpath', '-ldflags=-s -w', '-o', `${helm}.new`, 'helm.sh/helm/v3/cmd/helm']
    await promisify(execFile)('go', args, {
      cwd: import.meta.dirname,
      env: { ...process.env, CGO_ENABLED: '0' },
    })
    renameSync(`${helm}.new`, helm)
    return helm
  })
}
