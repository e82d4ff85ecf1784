const dayMs = 86_400_000
// Longer lists of names are slower than a pattern, and may not fit into a URL.
const maxDays = 30

/** The index of a time: one per UTC day, as Fluent Bit names them with Logstash_Format. */
export function indexOf(prefix: string, timeMs: number): string {
  return `${prefix}-${new Date(timeMs).toISOString().slice(0, 10).replaceAll('-', '.')}`
}

/**
 * Returns the indices that may contain records of a time range. Fluent Bit names an index by the
 * time of reading, which may be the next day.
 *
 * @param startMs undefined: no lower limit
 * @param endMs undefined: now
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
