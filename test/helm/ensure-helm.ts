import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildBinary } from '../../hack/controlplane/binaries/build.ts'
import { ensureCached } from '../../hack/controlplane/binaries/cache.ts'

/** Builds Helm from its Go module if it is not in the shared cache. @throws Error */
export function ensureHelm(say: (line: string) => void): Promise<string> {
  const sums = readFileSync(join(import.meta.dirname, 'go.sum'))
  const key = createHash('sha256').update(sums).digest('hex').slice(0, 12)
  const { signal } = new AbortController()
  return ensureCached(`helm/helm-${key}-${process.arch}`, say, path =>
    buildBinary('helm', path, { say, signal }),
  )
}
