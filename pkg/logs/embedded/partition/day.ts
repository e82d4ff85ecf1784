/** Splits timestamps into days (UTC, since 1970) and times of day, which are exact as numbers. */
const dayNs = 86_400_000_000_000n

export const dayMs = 86_400_000

export function dayOf(timeNs: bigint): number {
  return Number(timeNs / dayNs)
}

/** Returns the nanoseconds since the day began, which are below 2^47. */
export function timeInDay(timeNs: bigint): number {
  return Number(timeNs % dayNs)
}

export function toTimeNs(day: number, time: number): bigint {
  return BigInt(day) * dayNs + BigInt(time)
}

export function formatDay(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}
