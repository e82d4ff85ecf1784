import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { repository } from '../controlplane/settings.ts'
import { isMessage, type Message } from './messages.ts'
import { brokeOff, none, type Outcome, sum } from './totals.ts'

export type MochaRun = {
  readonly timeoutMs: number
  readonly env: Readonly<Record<string, string>>
  /** Whether what it prints is kept until it has ended, since something else is printing. */
  readonly isHeld?: boolean
}

/** A process of its own, so that what breaks it (a bad import, an endless loop's memory) is one more failed test. */
export async function runMocha(patterns: readonly string[], run: MochaRun): Promise<Outcome> {
  if (globSync(patterns, { cwd: repository }).length === 0) return none
  const { timeoutMs, env, isHeld = false } = run
  const grep = process.env.GREP
  const output = isHeld ? 'pipe' : 'inherit'
  const child = spawn(
    process.execPath,
    [join(repository, 'hack/test/mocha.ts'), String(timeoutMs), ...patterns],
    {
      cwd: repository,
      env: { ...env, ...(grep ? { GREP: grep } : {}) },
      stdio: ['ignore', output, output, 'ipc'],
    },
  )
  const printed: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => printed.push(chunk))
  const count = createCount()
  child.on('message', message => {
    if (isMessage(message)) count.add(message)
  })
  const { promise, resolve } = Promise.withResolvers<string>()
  child.on('error', error => resolve(error.message))
  child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  const end = await promise
  // What it left in the pipe; but a process that it left behind may keep the pipe open for ever.
  if (isHeld) await Promise.race([once(child, 'close'), sleep(2_000)])
  process.stdout.write(Buffer.concat(printed))
  return count.outcome(`${patterns.join(' ')}: the tests broke off (${end})`)
}

/** Counts what the process tells, so that what it did until it broke off is known. */
export function createCount() {
  let outcome = none
  let at: string | undefined
  let isOver = false
  return {
    add(message: Message): void {
      if ('end' in message) {
        isOver = true
        return
      }
      const { test, state, why } = message
      if (state === 'began') at = test
      else outcome = sum([outcome, toOutcome(state, `${test}: ${why}`)])
    },
    /** @param broken what to say when the process has not come to its end */
    outcome(broken: string): Outcome {
      if (isOver) return outcome
      return brokeOff(at === undefined ? `${broken} before the first` : `${broken} in "${at}"`, outcome)
    },
  }
}

function toOutcome(state: 'passed' | 'failed' | 'skipped', failure: string): Outcome {
  return { ...none, [state]: 1, ...(state === 'failed' ? { failures: [failure] } : {}) }
}
