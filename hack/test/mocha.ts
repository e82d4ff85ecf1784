import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import Mocha from 'mocha'
import type { Message } from './messages.ts'

// Runs the test files that match the given patterns in this process and tells its parent how each test ends, and of each
// that it begins: what breaks this process shall not take the figures along, nor the name of the test that it was at.
// Usage: mocha.ts TIMEOUT_MS PATTERN...

const [timeout = '10000', ...patterns] = process.argv.slice(2)
const grep = process.env.GREP
const mocha = new Mocha({ timeout: Number(timeout), reporter: 'spec', ...(grep ? { grep } : {}) })
// Who started this is gone, and has taken the control plane along: nobody is left to tell.
process.once('disconnect', () => process.exit(1))
for (const file of patterns.flatMap(pattern => globSync(pattern)).sort()) mocha.addFile(resolve(file))
await mocha.loadFilesAsync()

const tell = (message: Message, told = () => {}) => {
  if (process.send) process.send(message, told)
  else told()
}
const runner = mocha.run(failures => {
  // Not process.exitCode: a test that leaves a timer or a socket behind must not keep the rest waiting.
  tell({ end: true }, () => process.exit(failures > 0 ? 1 : 0))
})
for (const event of ['test', 'hook'] as const)
  runner.on(event, runnable => tell({ test: runnable.fullTitle(), state: 'began' }))
runner.on('pass', test => tell({ test: test.fullTitle(), state: 'passed' }))
runner.on('pending', test => tell({ test: test.fullTitle(), state: 'skipped' }))
runner.on('fail', (test, error) =>
  tell({ test: test.fullTitle(), state: 'failed', why: toFirstLine(error?.message) }),
)

function toFirstLine(text: unknown): string {
  return String(text).split('\n', 1).join('')
}
