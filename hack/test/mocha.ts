import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import Mocha from 'mocha'

// Runs the test files that match the given patterns in this process and tells its parent the figures.
// Usage: mocha.ts TIMEOUT_MS PATTERN...

const [timeout = '10000', ...patterns] = process.argv.slice(2)
const grep = process.env.GREP
const mocha = new Mocha({ timeout: Number(timeout), reporter: 'spec', ...(grep ? { grep } : {}) })
// Who started this is gone, and has taken the control plane along: nobody is left to tell.
process.once('disconnect', () => process.exit(1))
for (const file of patterns.flatMap(pattern => globSync(pattern)).sort()) mocha.addFile(resolve(file))
await mocha.loadFilesAsync()
const runner = mocha.run(failures => {
  const { passes = 0, pending = 0 } = runner.stats ?? {}
  // Not process.exitCode: a test that leaves a timer or a socket behind must not keep the rest waiting.
  const leave = () => process.exit(failures > 0 ? 1 : 0)
  if (process.send) process.send({ passed: passes, failed: failures, skipped: pending }, leave)
  else leave()
})
