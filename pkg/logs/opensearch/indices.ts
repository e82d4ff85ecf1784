const dayMs = 86_400_000
// Maximum number of indices to name: longer lists are slow, and may not fit into a URL.
const maxDays = 30

/** Returns the index of a time: one per UTC day, named as Fluent Bit does with Logstash_Format. */
export function indexOf(prefix: string, timeMs: number): string {
  return `${prefix}-${new Date(timeMs).toISOString().slice(0, 10).replaceAll('-', '.')}`
}

/**
 * Returns the indices that may contain records of a time range. Includes the day after it, because
 * Fluent Bit names an index by the time when it reads a line.
 *
 * @param startMs undefined for no lower limit
 * @param endMs undefined for now
 */
export function indicesOf(
  prefix: string,
  { startMs, endMs }: { readonly startMs: number | undefined; readonly endMs: number | undefined },
  nowMs: number,
): string {
  const last = Math.min(endMs ?? nowMs, nowMs + dayMs) + dayMs
  if (startMs === undefined || last - startMs > maxDays * dayMs) return `${prefix}-*`
  const names = new Set([indexOf(prefix, startMs)])
  for (let at = startMs; at <= last; at += dayMs) names.add(indexOf(prefix, at))
  names.add(indexOf(prefix, Math.max(last, startMs)))
  return [...names].join(',')
}
