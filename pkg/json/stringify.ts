/**
 * Like JSON.stringify, but preserves integers of any size (bigint) and negative zero.
 *
 * @throws RangeError for NaN and infinities, which JSON cannot express
 */
export function stringifyExactly(value: unknown): string {
  return JSON.stringify(value, toExact) ?? 'null'
}

function toExact(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return JSON.rawJSON(String(value))
  if (typeof value !== 'number') return value
  if (!Number.isFinite(value)) throw new RangeError(`failed to write ${value}: JSON has no such number`)
  return Object.is(value, -0) ? JSON.rawJSON('-0') : value
}
