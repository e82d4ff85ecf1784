import { relative, resolve } from 'node:path'
import Mocha from 'mocha'
import { isJobMessage, type Job, type Message } from './messages.ts'

// Runs the test files that its parent hands to it, job by job, and says how each test ends, and of each that it begins:
// what breaks this process shall not take the figures along, nor the name of the test that it was at.
// Usage: mocha.ts TIMEOUT_MS

const [timeout = '10000'] = process.argv.slice(2)
const grep = process.env.GREP

/** Says nothing of a file whose tests have all passed but their names. */
class Reporter extends Mocha.reporters.Spec {
  override epilogue() {
    if (this.failures.length > 0) super.epilogue()
  }
}

// Who started this is gone, and has taken the control plane along: nobody is left to report to.
process.once('disconnect', () => process.exit(1))
// A test may leave an unhandled rejection that makes no test fail. Mocha emits each once more while
// it runs.
const reported = new WeakSet<Promise<unknown>>()
process.on('unhandledRejection', (reason, promise) => {
  if (!reported.has(promise)) console.error('unhandled rejection:', reason)
  reported.add(promise)
})
let isPassed = true
for (let job = await nextJob(); job.length > 0; job = await nextJob()) {
  const startedAt = performance.now()
  const { failures, total } = await run(job)
  if (failures > 0) isPassed = false
  if (total === 0) continue
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const [only = '', ...more] = job.map(file => relative(process.cwd(), file))
  console.log(`  ${seconds} s for ${more.length === 0 ? only : `${job.length} files`}`)
}
// Not process.exitCode: a leaked timer or socket must not keep the process alive.
report({ end: true }, () => process.exit(isPassed ? 0 : 1))

function nextJob(): Promise<Job> {
  const { promise, resolve } = Promise.withResolvers<Job>()
  process.on('message', function take(message) {
    if (!isJobMessage(message)) return
    process.off('message', take)
    resolve(message.job)
  })
  report({ next: true })
  return promise
}

/** @returns how many tests and hooks failed, and how many tests there were */
async function run(files: Job): Promise<{ failures: number; total: number }> {
  const mocha = new Mocha({ timeout: Number(timeout), reporter: Reporter, ...(grep ? { grep } : {}) })
  for (const file of files) mocha.addFile(resolve(file))
  await mocha.loadFilesAsync()
  const { promise, resolve: end } = Promise.withResolvers<number>()
  const runner = mocha.run(end)
  for (const event of ['test', 'hook'] as const)
    runner.on(event, runnable => report({ test: runnable.fullTitle(), state: 'began' }))
  runner.on('pass', test => report({ test: test.fullTitle(), state: 'passed' }))
  runner.on('pending', test => report({ test: test.fullTitle(), state: 'skipped' }))
  runner.on('fail', (test, error) =>
    report({ test: test.fullTitle(), state: 'failed', why: toFirstLine(error?.message) }),
  )
  const failures = await promise
  // Its listeners to what nobody has caught would call those of the next in turn, without an end.
  mocha.dispose()
  return { failures, total: runner.total }
}

function report(message: Message, sent = () => {}): void {
  if (process.send) process.send(message, sent)
  else sent()
}

function toFirstLine(text: unknown): string {
  return String(text).split('\n', 1).join('')
}
