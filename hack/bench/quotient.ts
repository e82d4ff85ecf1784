import { percentile99 } from './load.ts'

/** Milliseconds of the requests of each turn. */
export type Turns = readonly (readonly number[])[]

const draws = 400
const certainty = 0.9

/**
 * Between what values nine tenths of the quotients of both p99s lie when turns are drawn again from those that there are (a block
 * bootstrap: slow requests come in groups, so that single ones are worth less than their number).
 *
 * @param random as Math.random
 */
export function boundsOfQuotient(
  upper: Turns,
  lower: Turns,
  random: () => number = Math.random,
): { readonly low: number; readonly high: number } {
  const draw = (turns: Turns): number =>
    percentile99(turns.flatMap(() => turns[Math.floor(random() * turns.length)] ?? []))
  const quotients = Array.from({ length: draws }, () => draw(upper) / draw(lower)).sort((a, b) => a - b)
  const at = (part: number): number => quotients[Math.floor((draws - 1) * part)] ?? Number.NaN
  return { low: at((1 - certainty) / 2), high: at((1 + certainty) / 2) }
}
