import { createNotes, type LineNotes } from '../line/line-notes.ts'

/** The value of an opentelemetry.proto.common.v1.AnyValue. */
export type AnyValue = string | number | boolean | bigint | null | readonly AnyValue[] | AnyMap
export type AnyMap = { readonly [key: string]: AnyValue }

/** A logs.v1.LogRecord. Times are ns since 1970 or 0; IDs are hexadecimal. */
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
  /** Trace flags of W3C. */
  readonly flags: number
  readonly droppedAttributes: number
  /** Changes that the parser made. */
  readonly notes: LineNotes
}

export type UnreadRecord = { readonly problem: string }

export type OtlpScope = { readonly name: string; readonly version: string; readonly attributes: AnyMap }

/** The records of one scope of a resource of an ExportLogsServiceRequest. */
export type OtlpGroup = {
  readonly attributes: AnyMap
  readonly scope: OtlpScope
  /** Changes that the parser made to the attributes and the scope. */
  readonly notes: LineNotes
  /** Parsed lazily. */
  readonly records: Iterable<OtlpRecord | UnreadRecord>
}

/** Returns one invalid record in place of an invalid group, which is counted as rejected. */
export function toUnreadGroup(problem: string): OtlpGroup {
  const scope = { name: '', version: '', attributes: {} }
  return { attributes: {}, scope, notes: createNotes(), records: [{ problem }] }
}

/** Converts key-value pairs to a map. A repeated key gets a list of its values. */
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

/** Maximum number of values of a record, a scope or a resource. Further values are omitted. */
export const maxValues = 65_536

/** Maximum depth of a value, because parsers recurse. */
export const maxDepth = 32

/** Returns an integer as a number if that is exact, otherwise as a bigint. */
export function toInteger(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}
