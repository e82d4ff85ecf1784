import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Question } from './asker.ts'
import type { BenchEnv } from './env.ts'
import { type Answered, percentile99, startLoad } from './load.ts'
import { boundsOfQuotient, type Turns } from './quotient.ts'

type Span = { readonly from: number; readonly to: number }

// Slow requests come in groups: of forty turns the quotient is good to some 15 %, so as many more are taken as it needs to be told
// from what is wanted.
const [turnsAtOnce, mostTurns] = [40, 120]
const turnMs = 2000
// What comes every few seconds would meet the same turns again and again: kube-apiserver collects its garbage for 60 ms each 4.75 s
// under this load, as long as two turns take. So pauses are of different lengths, and which of two turns is first is left to chance.
const settleMs = { least: 200, more: 400 }

/** Milliseconds of a question, asked again and again with a pause until the work is done; and what the work came to. */
export async function askWhile<T>(
  question: Question,
  work: () => Promise<T>,
): Promise<{ readonly ms: number; readonly result: T }> {
  const asker = fork(join(import.meta.dirname, 'asker.ts'))
  const broken = once(asker, 'exit').then(([code]) => {
    throw new Error(`the asker ended with ${code}`)
  })
  const heard = async (): Promise<unknown> => (await Promise.race([once(asker, 'message'), broken]))[0]
  try {
    asker.send(question)
    await heard()
    const result = await Promise.race([work(), broken])
    asker.send('done')
    return { ms: Number(await heard()), result }
  } finally {
    broken.catch(() => {})
    asker.kill()
  }
}

/**
 * The p99 of small requests in milliseconds, while something goes on and while nothing does, by turns under one load, and
 * between what their quotient lies.
 *
 * @param disturb called for each turn; what it returns ends it
 * @param wanted what the quotient is held against
 */
export async function comparedP99(
  env: BenchEnv,
  path: string,
  disturb: () => () => Promise<void>,
  wanted = Number.POSITIVE_INFINITY,
): Promise<{
  readonly quietMs: number
  readonly disturbedMs: number
  readonly low: number
  readonly high: number
}> {
  const [quiet, disturbed]: [(readonly number[])[], (readonly number[])[]] = [[], []]
  for (;;) {
    const more = await takeTurns(env, path, disturb)
    quiet.push(...more.quiet)
    disturbed.push(...more.disturbed)
    const { low, high } = boundsOfQuotient(disturbed, quiet)
    if (wanted < low || wanted > high || quiet.length >= mostTurns)
      return { quietMs: percentile99(quiet.flat()), disturbedMs: percentile99(disturbed.flat()), low, high }
  }
}

async function takeTurns(
  env: BenchEnv,
  path: string,
  disturb: () => () => Promise<void>,
): Promise<{ readonly quiet: Turns; readonly disturbed: Turns }> {
  const load = startLoad(env.hey, {
    url: `${env.kapisUrl}${path}`,
    token: env.kapisToken,
    connections: 4,
    perSecond: 50,
    seconds: 3600,
    gzip: false,
  })
  const [quiet, disturbed]: [Span[], Span[]] = [[], []]
  const span = async (): Promise<Span> => {
    await sleep(settleMs.least + settleMs.more * Math.random())
    const from = performance.now()
    await sleep(turnMs)
    return { from, to: performance.now() }
  }
  let answered: readonly Answered[] = []
  try {
    for (let turn = 0; turn < turnsAtOnce; turn += 1) {
      const isQuietFirst = Math.random() < 0.5
      if (isQuietFirst) quiet.push(await span())
      const stop = disturb()
      try {
        disturbed.push(await span())
      } finally {
        await stop()
      }
      if (!isQuietFirst) quiet.push(await span())
    }
  } finally {
    answered = await load.end()
  }
  const during = ({ from, to }: Span): readonly number[] =>
    answered.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms)
  return { quiet: quiet.map(during), disturbed: disturbed.map(during) }
}

// It would go on for ever when the bench is killed, and weigh on all that is measured after it.
const loopWhileWatched =
  'const { ppid } = process; for (let i = 1; i % 1e8 !== 0 || process.ppid === ppid; i++);'

/** A program that has nothing to do with Kapis keeps one processor, and is to go behind all others. */
export function startLoop(): () => Promise<void> {
  const loop = spawn('nice', ['-n', '5', process.execPath, '-e', loopWhileWatched], { stdio: 'ignore' })
  const ended = once(loop, 'exit')
  return async () => {
    loop.kill('SIGKILL')
    await ended
  }
}
