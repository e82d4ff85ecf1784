const billion = 1_000_000_000n

/**
 * Formats RFC 3339 in UTC, with at most nine fractional digits and without trailing zeros
 * (RFC3339Nano of Go).
 */
export function formatTime(timeNs: bigint): string {
  const whole = new Date(Number(timeNs / 1_000_000n)).toISOString().slice(0, 19)
  const fraction = String(timeNs % billion)
    .padStart(9, '0')
    .replace(/0+$/, '')
  return fraction === '' ? `${whole}Z` : `${whole}.${fraction}Z`
}
