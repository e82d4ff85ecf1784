import { maxTimeNs } from '../../record.ts'
import { checkLine, type Line } from '../document.ts'
import type { IngestLimits } from '../limits.ts'
import type { AnyMap, AnyValue, OtlpRecord, OtlpResource } from './message.ts'

const labelPrefix = 'k8s.pod.label.'

/**
 * The lines of one resource. Where they come from is said by the attributes that OpenTelemetry's semantic conventions
 * have for Kubernetes; an attribute of a record comes before its resource's.
 */
export function* toLines({ attributes, records }: OtlpResource, limits: IngestLimits): Generator<Line> {
  const shared = labelsOf(attributes)
  for (const record of records) yield toLine(record, { attributes, shared, limits })
}

type Resource = {
  readonly attributes: AnyMap
  readonly shared: Readonly<Record<string, string>>
  readonly limits: IngestLimits
}

function toLine(record: OtlpRecord, { attributes, shared, limits }: Resource): Line {
  const of = (...keys: readonly string[]) => {
    const found = keys.map(key => record.attributes[key] ?? attributes[key])
    return toText(found.find(value => value !== undefined && value !== null) ?? null)
  }
  const time = record.time > 0n ? record.time : record.observedTime
  if (time === 0n) return { problem: 'timeUnixNano: is missing, and so is observedTimeUnixNano' }
  if (time > maxTimeNs) return { problem: 'timeUnixNano: is after the year 2262' }
  const line = {
    timeNs: time,
    log: toText(record.body),
    namespace: of('k8s.namespace.name'),
    pod: of('k8s.pod.name'),
    container: of('k8s.container.name'),
    host: of('k8s.node.name', 'host.name'),
    dockerId: of('container.id'),
    labels: { ...shared, ...labelsOf(record.attributes) },
  }
  return checkLine(line, limits)
}

function labelsOf(attributes: AnyMap): Readonly<Record<string, string>> {
  const labels = Object.entries(attributes).filter(([key]) => key.startsWith(labelPrefix))
  return Object.fromEntries(labels.map(([key, value]) => [key.slice(labelPrefix.length), toText(value)]))
}

/** A body that is no text is kept as JSON. */
function toText(value: AnyValue): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
}
