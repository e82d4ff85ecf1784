import type { Parameters } from 'fast-check'

/** Seconds per property in `make fuzz`; 0 in `make test`, which takes a few seconds in total. */
export const fuzzSeconds = Number(process.env.FUZZ_SECONDS ?? 0)

// A fixed seed: `make test` uses the same inputs in each run, so that a change does not fail by
// chance.
const shortSeed = 34

/**
 * Returns the parameters of fast-check: the same inputs each time, or as many new ones as possible
 * within FUZZ_SECONDS. A failure prints its seed; add the input to test/fuzz/corpus.ts or next to
 * the faulty code.
 *
 * @param runs number of inputs in `make test`
 */
export function bounds<T>(runs: number): Parameters<T> {
  if (fuzzSeconds === 0) return { numRuns: runs, seed: shortSeed }
  return {
    numRuns: 1_000_000_000,
    interruptAfterTimeLimit: fuzzSeconds * 1_000,
    markInterruptAsFailure: false,
    maxSkipsPerRun: 1_000,
  }
}

/** Timeout of a test: the time for the property, and for shrinking a failure. */
export const propertyTimeoutMs = 240_000 + fuzzSeconds * 1_000
