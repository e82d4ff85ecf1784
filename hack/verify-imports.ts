import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'
import { checkFile } from './imports/check.ts'

// Who may import whom, and how large a file may be; docs/architecture.md tells why.

const files = globSync(['cmd/**/*.ts', 'pkg/**/*.ts'], { cwd: repository }).sort()
const findings = files.flatMap(path =>
  checkFile({ path, text: readFileSync(join(repository, path), 'utf8') }),
)
for (const { file, line, message } of findings) console.error(`${file}:${line}: ${message}`)
process.exit(findings.length === 0 ? 0 : 1)
