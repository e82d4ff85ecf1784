import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repository } from './controlplane/settings.ts'
import { generatedFiles, generatedManifests } from './generated.ts'

// make update: formats the code and writes every generated file.

run(join(repository, 'node_modules/.bin/biome'), ['check', '--write'])
const files = generatedFiles()
rmSync(join(repository, generatedManifests), { recursive: true, force: true })
for (const [path, text] of files) {
  mkdirSync(dirname(join(repository, path)), { recursive: true })
  writeFileSync(join(repository, path), text)
}

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: repository, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
