import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfig } from '../pkg/config/config.ts'
import { reference, renderReference } from '../pkg/config/reference.ts'
import { repository } from './controlplane/settings.ts'

// docs/config.md says what the parser does. With --update it is written anew (make update).

const file = join(repository, 'docs/config.md')
const { config } = parseConfig({})
const wanted = renderReference(config)
const missing = paths(config, '').filter(path => !reference.some(entry => isPartOf(path, entry.path)))
if (missing.length > 0) {
  console.error(`pkg/config/reference.ts does not tell of ${missing.join(', ')}`)
  process.exitCode = 1
} else if (process.argv.includes('--update')) {
  writeFileSync(file, wanted)
} else if (readFileSync(file, 'utf8') !== wanted) {
  console.error('docs/config.md is not what pkg/config says: run make update')
  process.exitCode = 1
}

function paths(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path]
  return Object.entries(value).flatMap(([key, inner]) => paths(inner, path === '' ? key : `${path}.${key}`))
}

function isPartOf(path: string, known: string): boolean {
  return path === known || path.startsWith(`${known}.`)
}
