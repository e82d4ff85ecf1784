import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfig } from '../pkg/config/config.ts'
import { reference, renderReference } from '../pkg/config/reference.ts'
import { renderSchema } from '../pkg/config/schema.ts'
import { repository } from './controlplane/settings.ts'

// docs/config.md and docs/config.schema.json say what the parser does. With --update it is written anew (make update).

const { config } = parseConfig({})
const wanted = { 'docs/config.md': renderReference(config), 'docs/config.schema.json': renderSchema() }
const missing = paths(config, '').filter(path => !reference.some(entry => isPartOf(path, entry.path)))
if (missing.length > 0) {
  console.error(`pkg/config/reference.ts does not tell of ${missing.join(', ')}`)
  process.exitCode = 1
} else {
  for (const [name, text] of Object.entries(wanted)) keep(name, text)
}

function keep(name: string, text: string): void {
  const file = join(repository, name)
  if (process.argv.includes('--update')) writeFileSync(file, text)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  console.error(`${name} is not what pkg/config says: run make update`)
  process.exitCode = 1
}

function paths(value: unknown, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path]
  return Object.entries(value).flatMap(([key, inner]) => paths(inner, path === '' ? key : `${path}.${key}`))
}

function isPartOf(path: string, known: string): boolean {
  return path === known || path.startsWith(`${known}.`)
}
