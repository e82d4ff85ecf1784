/** opentelemetry.proto.common.v1.AnyValue, as the text or value that it holds. */
export type AnyValue = string | number | boolean | bigint | null | readonly AnyValue[] | AnyMap
export type AnyMap = { readonly [key: string]: AnyValue }

/** opentelemetry.proto.logs.v1.LogRecord, as far as Kapis keeps it. Times are nanoseconds since 1970, 0 when not given. */
export type OtlpRecord = {
  readonly time: bigint
  readonly observedTime: bigint
  readonly body: AnyValue
  readonly attributes: AnyMap
}

/** The records of one resource of an ExportLogsServiceRequest. */
export type OtlpResource = { readonly attributes: AnyMap; readonly records: readonly OtlpRecord[] }

/** A number as JSON writes them, as far as one holds it. */
export function toInteger(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}
