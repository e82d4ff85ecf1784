import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartFiles } from './chart/write.ts'
import { ensureBinaries } from './controlplane/binaries.ts'
import { repository } from './controlplane/settings.ts'

// Writes what of charts/kapis is made from manifests/, which needs kubectl; verify-chart checks it without.

const folder = join(repository, 'charts/kapis')
const { signal } = new AbortController()
const { kubectl } = await ensureBinaries({ say: line => console.log(line), signal })
const files = chartFiles(kubectl)
for (const old of globSync('templates/*.yaml', { cwd: folder })) rmSync(join(folder, old))
mkdirSync(join(folder, 'templates'), { recursive: true })
for (const [name, text] of files) writeFileSync(join(folder, name), text)
process.exit(0)
