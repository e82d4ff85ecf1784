import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'

// make update: formats the code and runs every generator, hack/update-*.ts, each the twin of a hack/verify-*.ts.

const generators = globSync('hack/update-*.ts', { cwd: repository, exclude: ['**/*.test.ts'] }).sort()
const commands: readonly (readonly [string, ...string[]])[] = [
  ...generators.map(file => [process.execPath, file] as const),
  [join(repository, 'node_modules/.bin/biome'), 'check', '--write'],
]
for (const [command, ...args] of commands) {
  const { status } = spawnSync(command, args, { cwd: repository, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
