import { createNotes, type LineNotes } from '../line/line-notes.ts'

/** opentelemetry.proto.common.v1.AnyValue as its value. */
export type AnyValue = string | number | boolean | bigint | null | readonly AnyValue[] | AnyMap
export type AnyMap = { readonly [key: string]: AnyValue }

/**
 * opentelemetry.proto.logs.v1.LogRecord. Times are nanoseconds since 1970, or 0; IDs are
 * hexadecimal.
 */
export type OtlpRecord = {
  readonly time: bigint
  readonly observedTime: bigint
  readonly severityNumber: number
  readonly severityText: string
  readonly body: AnyValue
  readonly attributes: AnyMap
  readonly traceId: string
  readonly spanId: string
  readonly eventName: string
  /** Changes made by parsing. */
  readonly notes: LineNotes
}

/** A record that cannot be read, and why. */
export type UnreadRecord = { readonly problem: string }

export type OtlpScope = { readonly name: string; readonly version: string; readonly attributes: AnyMap }

/** The records of one scope of a resource of an ExportLogsServiceRequest. */
export type OtlpGroup = {
  readonly attributes: AnyMap
  readonly scope: OtlpScope
  /** Changes of the attributes and the scope. */
  readonly notes: LineNotes
  /** Parsed lazily. */
  readonly records: Iterable<OtlpRecord | UnreadRecord>
}

/**
 * Stands for a record that cannot be read, so that it is counted and does not affect the others.
 */
export function toUnreadGroup(problem: string): OtlpGroup {
  const scope = { name: '', version: '', attributes: {} }
  return { attributes: {}, scope, notes: createNotes(), records: [{ problem }] }
}

/** The map of the key-value pairs; a repeated key has a list of its values. */
export function toAnyMap(pairs: Iterable<readonly [string, AnyValue]>): AnyMap {
  const lists = new Map<string, AnyValue[]>()
  for (const [key, value] of pairs) {
    const list = lists.get(key)
    if (list === undefined) lists.set(key, [value])
    else list.push(value)
  }
  return Object.fromEntries(
    [...lists].map(([key, list]) => [key, list.length === 1 ? (list[0] ?? null) : list]),
  )
}

/** Maximum number of values of a record, a scope or a resource; others are omitted. */
export const maxValues = 65_536

/** Maximum depth of a value, since readers recurse. */
export const maxDepth = 32

/** A number as JSON, as far as it can be expressed. */
export function toInteger(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}
