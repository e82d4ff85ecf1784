import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { repository } from '../controlplane/settings.ts'
import { isTotals, none, oneFailed, type Totals } from './totals.ts'

export type MochaRun = {
  readonly timeoutMs: number
  readonly env: Readonly<Record<string, string>>
  /** Whether what it prints is kept until it has ended, since something else is printing. */
  readonly isHeld?: boolean
}

/** A process of its own, so that what breaks it (a bad import, an endless loop's memory) is one more failed test. */
export async function runMocha(patterns: readonly string[], run: MochaRun): Promise<Totals> {
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
  let reported: Totals | undefined
  child.on('message', message => {
    if (isTotals(message)) reported = message
  })
  const { promise, resolve } = Promise.withResolvers<string>()
  child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  const end = await promise
  // What it left in the pipe; but a process that it left behind may keep the pipe open for ever.
  if (isHeld) await Promise.race([once(child, 'close'), sleep(2_000)])
  process.stdout.write(Buffer.concat(printed))
  if (reported === undefined) console.error(`the tests broke off (${end})`)
  return reported ?? oneFailed
}
