import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'
import { checkFile } from './imports/check.ts'
import { findCircles } from './imports/circles.ts'

// Who may import whom, and how large a file may be; docs/architecture.md tells why.

const read = (patterns: string[]) =>
  globSync(patterns, { cwd: repository })
    .filter(path => !path.includes('node_modules/'))
    .sort()
    .map(path => ({ path, text: readFileSync(join(repository, path), 'utf8') }))
const findings = [
  ...read(['cmd/**/*.ts', 'pkg/**/*.ts']).flatMap(checkFile),
  ...findCircles(read(['cmd/**/*.ts', 'pkg/**/*.ts', 'hack/**/*.ts', 'test/**/*.ts'])),
]
for (const { file, line, message } of findings) console.error(`${file}:${line}: ${message}`)
process.exit(findings.length === 0 ? 0 : 1)
