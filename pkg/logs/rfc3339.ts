const billion = 1_000_000_000n
// Caches the last second: lines are in order of time, so many share a second.
let last = { seconds: 0n, text: '1970-01-01T00:00:00' }

/** Formats a time as RFC 3339 in UTC without trailing zeros (RFC3339Nano of Go). */
export function formatTime(timeNs: bigint): string {
  const isBefore1970 = timeNs < 0n
  const seconds = (isBefore1970 ? timeNs - billion + 1n : timeNs) / billion
  if (seconds !== last.seconds) {
    last = { seconds, text: new Date(Number(seconds) * 1000).toISOString().slice(0, 19) }
  }
  const fraction = String(timeNs - seconds * billion).padStart(9, '0')
  const digits = fraction.endsWith('0') ? fraction.replace(/0+$/, '') : fraction
  return digits === '' ? `${last.text}Z` : `${last.text}.${digits}Z`
}
