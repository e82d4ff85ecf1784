import { badRequest, type Cause, Status } from '../../apierrors/status.ts'
import type { QueryParameters } from '../../apirequest/query/query-parameters.ts'
import { parseTimestamp } from '../../logs/ingest/line/timestamp.ts'
import { maxTimeNs } from '../../logs/record.ts'

/** The parameters of `pods/{name}/log` (PodLogOptions of Kubernetes). */
export type PodLogOptions = {
  /** '' if the parameter is missing. */
  readonly container: string
  readonly previous: boolean
  readonly timestamps: boolean
  readonly sinceNs: bigint | undefined
  readonly tailLines: number | undefined
  readonly limitBytes: number | undefined
  readonly stream: string
}

const streams = ['All', 'Stderr', 'Stdout']

/**
 * Parses the parameters by the rules of kube-apiserver.
 *
 * @param pod name of the pod, for error messages
 * @throws Status 400 for a value of the wrong type, 422 for one that is not allowed
 */
export function parsePodLogOptions(query: QueryParameters, pod: string, nowMs: number): PodLogOptions {
  const seconds = integerOf(query, 'sinceSeconds')
  const time = query.first('sinceTime')
  const sinceTime = time === null ? undefined : readTime(time)
  const tailLines = integerOf(query, 'tailLines')
  const limitBytes = integerOf(query, 'limitBytes')
  const stream = query.first('stream') ?? 'All'
  const causes: Cause[] = []
  const refuse = (field: string, value: number, rule: string) =>
    causes.push({ reason: 'FieldValueInvalid', message: `Invalid value: ${value}: ${rule}`, field })
  const forbid = (message: string) =>
    causes.push({ reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field: '' })
  if (tailLines !== undefined && tailLines < 0)
    refuse('tailLines', tailLines, 'must be greater than or equal to 0')
  if (limitBytes !== undefined && limitBytes < 1) refuse('limitBytes', limitBytes, 'must be greater than 0')
  if (seconds !== undefined && time !== null)
    forbid('at most one of `sinceTime` or `sinceSeconds` may be specified')
  else if (seconds !== undefined && seconds < 1) refuse('sinceSeconds', seconds, 'must be greater than 0')
  if (!streams.includes(stream)) {
    const supported = streams.map(name => JSON.stringify(name)).join(', ')
    const message = `Unsupported value: ${JSON.stringify(stream)}: supported values: ${supported}`
    causes.push({ reason: 'FieldValueNotSupported', message, field: 'stream' })
  }
  if (stream !== 'All' && tailLines !== undefined)
    forbid('`tailLines` and specific `stream` are mutually exclusive for now')
  if (causes.length > 0) throw invalidOptions(pod, causes)
  return {
    container: query.first('container') ?? '',
    previous: query.isTrue('previous'),
    timestamps: query.isTrue('timestamps'),
    sinceNs: seconds === undefined ? sinceTime : secondsBefore(nowMs, seconds),
    ...{ tailLines, limitBytes, stream },
  }
}

function invalidOptions(name: string, causes: readonly Cause[]): Status {
  const texts = causes.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`))
  const list = texts.length > 1 ? `[${texts.join(', ')}]` : texts[0]
  const message = `PodLogOptions ${JSON.stringify(name)} is invalid: ${list}`
  return new Status(422, 'Invalid', message, { details: { name, kind: 'PodLogOptions', causes } })
}

function secondsBefore(nowMs: number, seconds: number): bigint {
  const ns = (BigInt(nowMs) - BigInt(seconds) * 1000n) * 1_000_000n
  return ns > 0n ? ns : 0n
}

function integerOf(query: QueryParameters, name: string): number | undefined {
  const text = query.first(name)
  if (text === null) return undefined
  if (!/^[+-]?\d{1,19}$/.test(text)) {
    throw badRequest(
      `invalid ${name}: strconv.ParseInt: parsing ${JSON.stringify(text.slice(0, 100))}: invalid syntax`,
    )
  }
  return Number(text)
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/

/** Parses a time exactly to the nanosecond; undefined for what kube-apiserver ignores. */
function readTime(text: string): bigint | undefined {
  if (text === '' || text === 'null') return undefined
  const ms = rfc3339.test(text) ? Date.parse(text) : Number.NaN
  // Times are limited to the range of stored lines.
  if (ms < 0) return 0n
  if (ms > Number(maxTimeNs / 1_000_000n)) return maxTimeNs
  // Date.parse also accepts 30 February and 24:00.
  const timeNs = Number.isNaN(ms) ? undefined : parseTimestamp(text)
  if (timeNs === undefined) {
    throw badRequest(
      `invalid sinceTime: parsing time ${JSON.stringify(text.slice(0, 100))} as "2006-01-02T15:04:05Z07:00": expected RFC 3339`,
    )
  }
  return timeNs
}
