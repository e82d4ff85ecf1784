import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Question } from './asker.ts'
import type { BenchEnv } from './env.ts'
import { measure, median } from './load.ts'

// The p99 of a round is the fourth of 400 requests: with 5 rounds the median of the same thing came out 1.3 times the other.
const rounds = 9

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
 * The p99 of small requests in milliseconds, while something goes on and while nothing does, interleaved.
 *
 * @param disturb called for each round; what it returns ends it
 */
export async function comparedP99(
  env: BenchEnv,
  path: string,
  disturb: () => () => Promise<void>,
): Promise<{ readonly quietMs: number; readonly disturbedMs: number }> {
  const [quiet, disturbed]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(await p99(env, path))
    const stop = disturb()
    try {
      disturbed.push(await p99(env, path))
    } finally {
      await stop()
    }
  }
  return { quietMs: median(quiet), disturbedMs: median(disturbed) }
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

async function p99(env: BenchEnv, path: string): Promise<number> {
  const { p99Ms } = await measure(env.hey, {
    url: `${env.kapisUrl}${path}`,
    token: env.kapisToken,
    connections: 4,
    perSecond: 50,
    seconds: 8,
    gzip: false,
  })
  return p99Ms
}
