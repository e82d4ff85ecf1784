const minute = 60
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

/** Formats an age like kubectl, such as `45s`, `3h12m` or `4y`. @param since RFC 3339, or '' */
export function formatAge(since: string, nowMs: number): string {
  const start = Date.parse(since)
  if (Number.isNaN(start)) return '<unknown>'
  const seconds = Math.trunc((nowMs - start) / 1000)
  // Clocks may differ slightly, so a negative age is shown as 0.
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 2 * minute) return `${seconds}s`
  if (seconds < 10 * minute) return pair(seconds, minute, 'm', 1, 's')
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`
  if (seconds < 8 * hour) return pair(seconds, hour, 'h', minute, 'm')
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`
  if (seconds < 8 * day) return pair(seconds, day, 'd', hour, 'h')
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`
  if (seconds < 8 * year) return pair(seconds, year, 'y', day, 'd')
  return `${Math.floor(seconds / year)}y`
}

function pair(seconds: number, unit: number, name: string, smaller: number, smallerName: string): string {
  const rest = Math.floor((seconds % unit) / smaller)
  return `${Math.floor(seconds / unit)}${name}${rest === 0 ? '' : `${rest}${smallerName}`}`
}
