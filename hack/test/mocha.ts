import { relative, resolve } from 'node:path'
import Mocha from 'mocha'
import { isJobMessage, type Job, type Message } from './messages.ts'
import { cpuSeconds } from './timings.ts'

// Runs the test files of each job from its parent. Reports when each test starts and ends, so that
// after a crash the results and the name of the running test are known. Usage: mocha.ts TIMEOUT_MS

const [timeout = '10000'] = process.argv.slice(2)
const grep = process.env.GREP

/** Prints only test names, and failures. */
class Reporter extends Mocha.reporters.Spec {
  override epilogue() {
    if (this.failures.length > 0) super.epilogue()
  }
}

// The parent has died, and the control plane with it: results could not be reported.
process.once('disconnect', () => process.exit(1))
// Prints each unhandled rejection once, since it may fail no test, and Mocha emits it again.
const reported = new WeakSet<Promise<unknown>>()
process.on('unhandledRejection', (reason, promise) => {
  if (!reported.has(promise)) console.error('unhandled rejection:', reason)
  reported.add(promise)
})
let isPassed = true
for (let job = await nextJob(); job.length > 0; job = await nextJob()) {
  const [startedAt, cpuBefore] = [performance.now(), cpuSeconds()]
  const { failures, total } = await run(job)
  if (failures > 0) isPassed = false
  if (total === 0) continue
  const [seconds, cpu] = [(performance.now() - startedAt) / 1000, cpuSeconds() - cpuBefore]
  const [only = '', ...more] = job.map(file => relative(process.cwd(), file))
  console.log(`  ${seconds.toFixed(1)} s for ${more.length === 0 ? only : `${job.length} files`}`)
  report({ timing: { name: [only, ...more].join(' '), seconds, cpuSeconds: cpu } })
}
// process.exit, not process.exitCode: a leaked timer or socket would keep the process running.
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

/** @returns the number of failed tests and hooks, and the number of tests */
async function run(files: Job): Promise<{ failures: number; total: number }> {
  const mocha = new Mocha({ timeout: Number(timeout), reporter: Reporter, ...(grep ? { grep } : {}) })
  for (const file of files) mocha.addFile(resolve(file))
  await mocha.loadFilesAsync()
  const { promise, resolve: end } = Promise.withResolvers<number>()
  const runner = mocha.run(end)
  for (const event of ['test', 'hook'] as const)
    runner.on(event, runnable => report({ test: runnable.fullTitle(), state: 'began' }))
  runner.on('pass', test =>
    report({ test: test.fullTitle(), state: 'passed', seconds: (test.duration ?? 0) / 1000 }),
  )
  runner.on('pending', test => report({ test: test.fullTitle(), state: 'skipped' }))
  runner.on('fail', (test, error) =>
    report({ test: test.fullTitle(), state: 'failed', why: toFirstLine(error?.message) }),
  )
  const failures = await promise
  // Removes its listeners for uncaught errors: they would call those of the next run, endlessly.
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
