import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Question } from './asker.ts'
import type { BenchEnv } from './env.ts'
import { type Answered, percentile99, startLoad } from './load.ts'

// Slow requests come in groups. The medians of the p99s of nine rounds of eight seconds were 0.9 to 1.4 times each other for
// one and the same program; of so many short turns, all requests together, 0.85 to 1.2 times.
const turns = 40
const turnMs = 2000
const settleMs = 300

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
 * The p99 of small requests in milliseconds, while something goes on and while nothing does, by turns under one load.
 *
 * @param disturb called for each turn; what it returns ends it
 */
export async function comparedP99(
  env: BenchEnv,
  path: string,
  disturb: () => () => Promise<void>,
): Promise<{ readonly quietMs: number; readonly disturbedMs: number }> {
  const load = startLoad(env.hey, {
    url: `${env.kapisUrl}${path}`,
    token: env.kapisToken,
    connections: 4,
    perSecond: 50,
    seconds: 3600,
    gzip: false,
  })
  const spans: { readonly isDisturbed: boolean; readonly from: number; readonly to: number }[] = []
  const takeTurn = async (isDisturbed: boolean): Promise<void> => {
    await sleep(settleMs)
    const from = performance.now()
    await sleep(turnMs)
    spans.push({ isDisturbed, from, to: performance.now() })
  }
  let answered: readonly Answered[] = []
  try {
    for (let turn = 0; turn < turns; turn += 1) {
      await takeTurn(false)
      const stop = disturb()
      try {
        await takeTurn(true)
      } finally {
        await stop()
      }
    }
  } finally {
    answered = await load.end()
  }
  const p99 = (isDisturbed: boolean): number => {
    const own = spans.filter(span => span.isDisturbed === isDisturbed)
    return percentile99(
      answered.filter(({ at }) => own.some(({ from, to }) => at >= from && at < to)).map(({ ms }) => ms),
    )
  }
  return { quietMs: p99(false), disturbedMs: p99(true) }
}

/** A program that has nothing to do with Kapis keeps one processor, and is to go behind all others. */
export function startLoop(): () => Promise<void> {
  const loop = spawn('nice', ['-n', '5', process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' })
  const ended = once(loop, 'exit')
  return async () => {
    loop.kill('SIGKILL')
    await ended
  }
}
