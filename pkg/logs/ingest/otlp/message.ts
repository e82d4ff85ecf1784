/** opentelemetry.proto.common.v1.AnyValue, as the text or value that it holds. */
export type AnyValue = string | number | boolean | bigint | null | readonly AnyValue[] | AnyMap
export type AnyMap = { readonly [key: string]: AnyValue }

/** opentelemetry.proto.logs.v1.LogRecord. Times are nanoseconds since 1970, 0 when not given; ids are in hexadecimal digits. */
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
}

export type OtlpScope = { readonly name: string; readonly version: string; readonly attributes: AnyMap }

/** The records of one scope of a resource of an ExportLogsServiceRequest. */
export type OtlpGroup = {
  readonly attributes: AnyMap
  readonly scope: OtlpScope
  readonly records: readonly OtlpRecord[]
}

/** In place of a value that is nested deeper than anybody nests: the stack of whoever goes through it has an end. */
export const tooDeep = '(nested too deep)'
export const maxDepth = 32

/** A number as JSON writes them, as far as one holds it. */
export function toInteger(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}
