import { badRequest } from '../../../apierrors/status.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'
import { WireError } from '../../../protobuf/wire.ts'
import { parseBounded } from '../body/bounded-json.ts'
import { limitParts } from '../body/limit-parts.ts'
import type { IngestLimits } from '../limits.ts'
import { type Line, putMembers } from '../line/document.ts'
import { type FlatFields, flatten, formatMember } from '../line/flatten.ts'
import { createNotes, type LineNotes } from '../line/line-notes.ts'
import { toRecord } from '../line/line-record.ts'
import { arrivalTime, isLineTime } from '../line/line-time.ts'
import { isOfPod } from '../line/origin.ts'
import { createSharing, type SharedFields } from '../line/shared-fields.ts'
import type { BatchReading, Problems } from '../raw-batch.ts'
import type { LokiEntry, LokiPair } from './entry.ts'
import { readPushJson } from './json.ts'
import { readPush } from './protobuf.ts'

// Labels in which Promtail, Alloy, Fluent Bit and exporters of OpenTelemetry send the origin.
const originLabels: Readonly<Record<string, string>> = {
  ...{ namespace: 'k8s.namespace.name', namespace_name: 'k8s.namespace.name' },
  ...{ k8s_namespace_name: 'k8s.namespace.name', kubernetes_namespace_name: 'k8s.namespace.name' },
  ...{ pod: 'k8s.pod.name', pod_name: 'k8s.pod.name' },
  ...{ k8s_pod_name: 'k8s.pod.name', kubernetes_pod_name: 'k8s.pod.name' },
  ...{ container: 'k8s.container.name', container_name: 'k8s.container.name' },
  ...{ k8s_container_name: 'k8s.container.name', kubernetes_container_name: 'k8s.container.name' },
  ...{ node: 'k8s.node.name', node_name: 'k8s.node.name', k8s_node_name: 'k8s.node.name' },
  ...{ host: 'k8s.node.name', kubernetes_host: 'k8s.node.name', container_id: 'container.id' },
}

/**
 * Reads a push request of Loki. Labels contain the origin; other labels, and the structured
 * metadata of a line, become fields. Like in Loki, the response is 400 if some lines are rejected,
 * although others are stored.
 */
export function readLoki(body: Buffer, encoding: 'json' | 'protobuf', limits: IngestLimits): BatchReading {
  let count = 0
  const counted = function* () {
    for (const line of linesOf(body, encoding, limits)) {
      count += 1
      yield line
    }
  }
  return { lines: counted(), respond: () => [], rejection: problems => rejectionMessage(problems, count) }
}

function rejectionMessage(problems: Problems, count: number): string | undefined {
  const [first] = [...problems].sort(([a], [b]) => a - b)
  if (first === undefined) return undefined
  return `${problems.size} of ${count} lines were rejected; line ${first[0] + 1}: ${first[1].reason}`
}

function* linesOf(body: Buffer, encoding: 'json' | 'protobuf', limits: IngestLimits): Generator<Line> {
  try {
    const streams = encoding === 'json' ? readPushJson(body, limits) : readPush(body)
    const share = createSharing(limits)
    for (const { labels, entries } of limitParts(limits.batchLines, 'streams', streams)) {
      const [flat, notes]: [FlatFields, LineNotes] = [new Map(), createNotes()]
      addAll(flat, labels, notes, limits)
      const shared = share(flat, notes)
      for (const entry of entries) yield toLine(entry, shared, limits)
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    throw badRequest(`the body is not a PushRequest: ${error.message}`)
  }
}

function toLine(entry: LokiEntry, shared: SharedFields, limits: IngestLimits): Line {
  if (entry.problem !== undefined) return entry
  const notes = createNotes()
  const flat: FlatFields = new Map()
  const timeNs = isLineTime(entry.timeNs, limits) ? entry.timeNs : arrivalTime(notes)
  if (timeNs !== entry.timeNs) flatten(flat, 'timestamp', entry.timestamp, notes, limits)
  addAll(flat, entry.metadata, notes, limits)
  const line = typeof entry.line === 'string' ? entry.line : formatMember(entry.line, notes)
  // Labels with an origin take precedence: an application must not be able to change the origin of
  // its lines.
  const document = isOfPod(flat) || isOfPod(shared.flat) ? undefined : toDocument(line, limits)
  const log =
    document === undefined ? line : putMembers(flat, document.value, document.text, { timeNs }, notes, limits)
  shared.addTo(flat, notes)
  return toRecord({ timeNs, log }, flat, limits, notes)
}

type Document = { readonly value: Readonly<Record<string, unknown>>; readonly text: string }

/** Parses a line that is a JSON object, as Fluent Bit sends it; undefined for other lines. */
function toDocument(line: string, limits: IngestLimits): Document | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const { value, text } = parseBounded(line, limits)
    return isRecord(value) ? { value, text } : undefined
  } catch {
    return undefined
  }
}

function addAll(flat: FlatFields, pairs: Iterable<LokiPair>, notes: LineNotes, limits: IngestLimits): void {
  let count = 0
  for (const pair of pairs) {
    count += 1
    const isOver = count > limits.lineValues
    if (isOver || pair === undefined) {
      notes.add('field_omitted')
      if (isOver) return
      continue
    }
    const [name, value] = pair
    const known = Object.hasOwn(originLabels, name) ? originLabels[name] : undefined
    flatten(flat, known ?? name, value, notes, limits)
  }
}
