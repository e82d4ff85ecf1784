import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'
import { generatedFiles, generatedManifests } from './generated.ts'

// Checks that every generated file matches its source.

const files = generatedFiles()
const read = (path: string) => {
  const file = join(repository, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
const extra = globSync(`${generatedManifests}/**/*.yaml`, { cwd: repository }).filter(
  path => !files.has(path),
)
const stale = [...files].filter(([path, text]) => read(path) !== text).map(([path]) => path)
for (const path of [...stale, ...extra].sort()) console.error(`${path} is out of date: run make update`)
process.exit(stale.length + extra.length === 0 ? 0 : 1)
