import { setTimeout as sleep } from 'node:timers/promises'
import { measure, median } from './load.ts'
import type { BenchEnv } from './run.ts'

const rounds = 3
const pauseMs = 200

/** Milliseconds of a question, asked again and again with a pause until the work is done; and what the work came to. */
export async function askWhile<T>(
  question: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<{ readonly ms: number; readonly result: T }> {
  const times: number[] = []
  let isDone = false
  const asking = (async () => {
    while (!isDone) {
      const start = performance.now()
      await question()
      times.push(performance.now() - start)
      await sleep(pauseMs)
    }
  })()
  try {
    const result = await work()
    isDone = true
    await asking
    return { ms: median(times), result }
  } finally {
    isDone = true
  }
}

/**
 * The p99 of one node while something goes on in the log store, and while nothing does, interleaved: the one divided by the
 * other.
 *
 * @param disturb called for each round; what it returns ends it
 */
export async function disturbNodes(env: BenchEnv, disturb: () => () => Promise<void>): Promise<number> {
  const quiet: number[] = []
  const disturbed: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    quiet.push(await nodesP99(env))
    const stop = disturb()
    try {
      disturbed.push(await nodesP99(env))
    } finally {
      await stop()
    }
  }
  return median(disturbed) / median(quiet)
}

async function nodesP99(env: BenchEnv): Promise<number> {
  const { p99Ms } = await measure(env.hey, {
    url: `${env.kapisUrl}/apis/resources.${env.groupDomain}/v1alpha3/nodes/worker-1`,
    token: env.kapisToken,
    connections: 4,
    perSecond: 50,
    seconds: 4,
    gzip: false,
  })
  return p99Ms
}
