import type { Parameters } from 'fast-check'

/**
 * Seconds that `make fuzz` spends on each property; 0 in `make test`, which runs for a few seconds.
 */
export const fuzzSeconds = Number(process.env.FUZZ_SECONDS ?? 0)

// The same inputs in each run: only `make fuzz` looks for new ones, so that a change does not fail
// by chance.
const shortSeed = 34

/**
 * How much of a property is tried: the same inputs each time, or as many new ones as fit into
 * FUZZ_SECONDS. A failure prints its seed; add the input to test/fuzz/corpus.ts or next to the
 * faulty code.
 *
 * @param runs of the short form
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

/** For the timeout of a test: the time of the property, and of shrinking a failure. */
export const propertyTimeoutMs = 240_000 + fuzzSeconds * 1_000
