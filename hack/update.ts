import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'

// make update: formats the code and runs every generator, hack/update-*.ts, each the twin of a hack/verify-*.ts.

/** The chart is made from overlays of which one is made itself, and of sources that may have to be formatted: one run must do. */
const last = 'hack/update-chart.ts'
const generators = globSync('hack/update-*.ts', { cwd: repository, exclude: ['**/*.test.ts', last] }).sort()
const commands: readonly (readonly [string, ...string[]])[] = [
  [join(repository, 'node_modules/.bin/biome'), 'check', '--write'],
  ...[...generators, last].map(file => [process.execPath, file] as const),
]
for (const [command, ...args] of commands) {
  const { status } = spawnSync(command, args, { cwd: repository, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
