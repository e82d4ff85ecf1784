import type { Parameters } from 'fast-check'

/** How long `make fuzz` goes on with each property; 0 in `make test`, where a few seconds have to do. */
export const fuzzSeconds = Number(process.env.FUZZ_SECONDS ?? 0)

// The same inputs in each run: what is new is looked for by `make fuzz`, and not by chance in a change that has no part in it.
const shortSeed = 34

/**
 * How much of a property is tried: the same inputs each time, or as many new ones as fit into FUZZ_SECONDS. A failure prints its seed;
 * what it found belongs into test/fuzz/corpus.ts, or next to the code that was wrong.
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

/** For the timeout of a test: the property, and room to shrink what it finds. */
export const propertyTimeoutMs = 240_000 + fuzzSeconds * 1_000
