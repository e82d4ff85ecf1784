/** Days in UTC since 1970. A 64-bit timestamp does not fit a number; the time within a day does. */
const dayNs = 86_400_000_000_000n

export const dayMs = 86_400_000

export function dayOf(timeNs: bigint): number {
  return Number(timeNs / dayNs)
}

/** Nanoseconds since the day began: below 2^47. */
export function timeInDay(timeNs: bigint): number {
  return Number(timeNs % dayNs)
}

export function toTimeNs(day: number, time: number): bigint {
  return BigInt(day) * dayNs + BigInt(time)
}

export function formatDay(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
