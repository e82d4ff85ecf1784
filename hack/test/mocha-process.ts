import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { repository } from '../controlplane/settings.ts'
import { isMessage, type Job, type JobMessage, type Message } from './messages.ts'
import type { Timing } from './timings.ts'
import { aborted, none, type Outcome, sum } from './totals.ts'

export function testFiles(patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: repository }).sort()
}

/** A queue of jobs for several processes; each takes the next job when it has finished one. */
export type Queue = { readonly take: () => Job | undefined; readonly isEmpty: () => boolean }

export function createQueue(jobs: readonly Job[]): Queue {
  const left = jobs.filter(job => job.length > 0)
  return { take: () => left.shift(), isEmpty: () => left.length === 0 }
}

export function concatQueues(first: Queue, next: Queue): Queue {
  return { take: () => first.take() ?? next.take(), isEmpty: () => first.isEmpty() && next.isEmpty() }
}

export type MochaRun = {
  readonly timeoutMs: number
  readonly env: Readonly<Record<string, string>>
  /** Prefix of each printed line, since several processes print concurrently. */
  readonly name: string
  readonly print?: (line: string) => void
  readonly timed?: (kind: 'file' | 'test', timing: Timing) => void
}

/** Runs jobs in a separate process, whose crash counts as one failed test. */
export async function runMocha(queue: Queue, run: MochaRun): Promise<Outcome> {
  if (queue.isEmpty()) return none
  const { timeoutMs, env, name, print = console.log, timed = () => {} } = run
  const child = spawn(process.execPath, [join(repository, 'hack/test/mocha.ts'), String(timeoutMs)], {
    cwd: repository,
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  for (const input of [child.stdout, child.stderr].filter(each => each !== null))
    createInterface(input).on('line', line => {
      if (line.trim() !== '') print(`${name} | ${line}`)
    })
  const count = createCount()
  child.on('message', message => {
    if (!isMessage(message)) return
    if ('timing' in message) return timed('file', message.timing)
    if (!('next' in message)) {
      if ('test' in message && message.seconds !== undefined)
        timed('test', { name: message.test, seconds: message.seconds })
      return count.add(message)
    }
    const response: JobMessage = { job: queue.take() ?? [] }
    count.began(response.job)
    // Ignored: if the process has exited, its exit event reports that.
    child.send(response, () => {})
  })
  const { promise, resolve } = Promise.withResolvers<string>()
  child.on('error', error => resolve(error.message))
  child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  const end = await promise
  // Limited, since a process that a test has left may keep the pipe open.
  await Promise.race([once(child, 'close'), sleep(2_000)])
  const outcome = count.outcome(`${name}: the tests ended early (${end})`)
  // After a crash, another process runs the remaining files.
  return count.isOver() || queue.isEmpty() ? outcome : sum([outcome, await runMocha(queue, run)])
}

/** Counts results as tests report them, so that they are known after a crash. */
export function createCount() {
  let outcome = none
  let files: Job = []
  let at: string | undefined
  let isOver = false
  return {
    began(job: Job): void {
      files = job
      at = undefined
    },
    add(message: Exclude<Message, { next: true } | { timing: Timing }>): void {
      if ('end' in message) {
        isOver = true
        return
      }
      const { test, state, why } = message
      if (state === 'began') at = test
      else outcome = sum([outcome, toOutcome(state, `${test}: ${why}`)])
    },
    isOver: () => isOver,
    /** @param broken the message of the failure if the process has crashed */
    outcome(broken: string): Outcome {
      if (isOver) return outcome
      const place = at === undefined ? 'before the first test' : `in "${at}"`
      return aborted([broken, place, ...(files.length > 0 ? ['of', ...files] : [])].join(' '), outcome)
    },
  }
}

function toOutcome(state: 'passed' | 'failed' | 'skipped', failure: string): Outcome {
  return { ...none, [state]: 1, ...(state === 'failed' ? { failures: [failure] } : {}) }
}
