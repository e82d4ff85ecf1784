import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from './controlplane/settings.ts'

// make verify: runs all checks, even if an earlier one fails. Every hack/verify-*.ts is a check.

const tool = (name: string) => join(repository, 'node_modules/.bin', name)
const sources = ['cmd', 'pkg', 'hack', 'test']
const checks: readonly (readonly [string, ...string[]])[] = [
  [tool('tsc'), '-p', '.', '--noEmit'],
  [tool('biome'), 'ci', '--error-on-warnings', '--colors=off'],
  [tool('markdownlint-cli2')],
  [tool('depcruise'), '--config', '.dependency-cruiser.mjs', '--output-type=err', ...sources],
  ...globSync('hack/verify-*.ts', { cwd: repository, exclude: ['**/*.test.ts'] })
    .sort()
    .map(file => [process.execPath, file] as const),
]

const left = [...checks]
let failed = 0
// Two checks run concurrently, since most use one core.
await Promise.all(Array.from({ length: 2 }, runChecks))
process.exit(failed === 0 ? 0 : 1)

async function runChecks(): Promise<void> {
  for (let check = left.shift(); check !== undefined; check = left.shift()) {
    const [command, ...args] = check
    const name = [command, ...args].map(word => word.split('/').at(-1)).join(' ')
    const began = Date.now()
    const { code, output } = await run(command, args)
    if (code !== 0) failed += 1
    process.stdout.write(output)
    console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`)
  }
}

/** Runs a command and returns its output at the end: concurrent checks must not mix. */
function run(command: string, args: readonly string[]) {
  const options = { cwd: repository, maxBuffer: 2 ** 30 }
  return promisify(execFile)(command, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr, message }) => ({ code, output: stdout + stderr || `${message}\n` }),
  )
}
