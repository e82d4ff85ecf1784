/** Random numbers that are determined by a seed (mulberry32). */
export type Random = {
  /** Returns an integer from 0 up to but not including `below`. */
  readonly below: (below: number) => number
  readonly one: <T>(choices: readonly [T, ...T[]]) => T
  /** Returns true with the given probability. */
  readonly chance: (probability: number) => boolean
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    one: choices => choices[below(choices.length)] ?? choices[0],
    chance: probability => next() < probability,
  }
}
