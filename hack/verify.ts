import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './controlplane/settings.ts'

// make verify: runs all checks, even if an earlier one fails. Every hack/verify-*.ts is a check.

const tool = (name: string) => join(repository, 'node_modules/.bin', name)
const checks: readonly (readonly [string, ...string[]])[] = [
  [tool('tsc'), '-p', '.', '--noEmit'],
  [tool('biome'), 'ci', '--error-on-warnings', '--colors=off'],
  [
    tool('depcruise'),
    '--config',
    '.dependency-cruiser.mjs',
    '--output-type',
    'err',
    'cmd',
    'pkg',
    'hack',
    'test',
  ],
  ...globSync('hack/verify-*.ts', { cwd: repository, exclude: ['**/*.test.ts'] })
    .sort()
    .map(file => [process.execPath, file] as const),
]

let failed = 0
for (const [command, ...args] of checks) {
  const name = [command, ...args].map(word => word.split('/').at(-1)).join(' ')
  const began = Date.now()
  const { status } = spawnSync(command, args, { cwd: repository, stdio: 'inherit' })
  if (status !== 0) failed += 1
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`)
}
process.exit(failed === 0 ? 0 : 1)
