const units: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
}

/** Converts a Go duration (1h30m; a number is in ns) to seconds, rounded up; else undefined. */
export function toSeconds(value: unknown): number | undefined {
  if (typeof value === 'number') return Math.ceil(value / 1e9)
  if (value === '0') return 0
  if (typeof value !== 'string' || !/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(value)) return undefined
  let total = 0
  for (const [, amount, unit = ''] of value.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g))
    total += Number(amount) * (units[unit] ?? 0)
  return Math.ceil(total)
}
