import { type FieldScalar, type Fields, type FieldValue, formatJson, isScalar } from '../fields.ts'
import type { LogRecord } from '../record.ts'
import type { IngestLimits } from './limits.ts'
import { type LineNotes, type Notes, shorten } from './notes.ts'

/**
 * Everything that a sender said of a line, by names with dots between the levels. Lists are the
 * map's own.
 */
export type Flat = Map<string, FieldScalar | FieldScalar[]>

type OriginName = 'namespace' | 'pod' | 'container' | 'host' | 'dockerId'

// The names of Fluent Bit's Kubernetes filter, Filebeat (ECS), Vector and OpenTelemetry's semantic conventions.
const originNames: Readonly<Record<OriginName, readonly string[]>> = {
  namespace: [
    'kubernetes.namespace_name',
    'kubernetes.namespace',
    'kubernetes.pod_namespace',
    'k8s.namespace.name',
    'resource.attributes.k8s.namespace.name',
  ],
  pod: ['kubernetes.pod_name', 'kubernetes.pod.name', 'k8s.pod.name', 'resource.attributes.k8s.pod.name'],
  container: [
    'kubernetes.container_name',
    'kubernetes.container.name',
    'k8s.container.name',
    'resource.attributes.k8s.container.name',
  ],
  host: [
    'kubernetes.host',
    'kubernetes.node.name',
    'kubernetes.pod_node_name',
    'k8s.node.name',
    'resource.attributes.k8s.node.name',
    'host.name',
  ],
  dockerId: [
    'kubernetes.docker_id',
    'kubernetes.container_id',
    'container.id',
    'resource.attributes.container.id',
  ],
}
const meanings = new Map(
  (Object.entries(originNames) as [OriginName, readonly string[]][]).flatMap(([of, names]) =>
    names.map((name, order) => [name, { of, order }] as const),
  ),
)
// What agents call the file that a line comes from.
const fileNames = ['log.file.path', 'log.file.name', 'filename', 'file', 'path', 'tag', '_flb-key']
// Of containers, as the kubelet names it. Fluent Bit's tags have dots in place of slashes.
const containerFile = /^([a-z0-9][a-z0-9.-]*)_([a-z0-9-]+)_([a-z0-9-]+)-([0-9a-f]{64})\.log$/
const podFile = /[./]pods[./]([a-z0-9-]+)_([a-z0-9][a-z0-9.-]*)_[0-9a-f-]{32,36}[./]([a-z0-9-]+)[./]\d+\.log$/
const maxFileName = 4096
const labelPrefixes = [
  'kubernetes.labels.',
  'kubernetes.pod_labels.',
  'k8s.pod.labels.',
  'k8s.pod.label.',
  'resource.attributes.k8s.pod.labels.',
  'resource.attributes.k8s.pod.label.',
]
const depth = 8

/** Adds a value under a name. A name that has another value already gets a list of both. */
export function put(flat: Flat, name: string, value: FieldValue): void {
  const known = flat.get(name)
  if (known === undefined) flat.set(name, typeof value === 'object' ? [...value] : value)
  else if (known !== value) {
    const list = typeof known === 'object' ? known : [known]
    if (typeof value !== 'object') list.push(value)
    else for (const one of value) list.push(one)
    flat.set(name, list)
  }
}

/** Adds what is said of several lines; where a line says itself where it comes from, that counts. */
function putShared(flat: Flat, shared: Flat): void {
  for (const [name, value] of shared) if (!flat.has(name) || !saysOrigin(name)) put(flat, name, value)
}

/** What is sent once of several lines, and is stored with each of them. */
export type Shared = {
  readonly flat: Flat
  /** Adds it to what is known of a line. */
  readonly addTo: (flat: Flat, notes: LineNotes) => void
}

/**
 * Makes what several lines of a batch share, within a limit for all lines of the batch: a batch of some megabytes could
 * become gigabytes otherwise. Beyond it, where lines come from is all that they are given.
 */
export function createSharing(limits: IngestLimits): (flat: Flat, ofAll: LineNotes) => Shared {
  let left = limits.sharedBytes
  return (given, ofAll) => {
    const { flat, origin, bytes } = limitShared(given, limits, ofAll)
    const { notes = [] } = ofAll.result()
    return {
      flat,
      addTo(to, own) {
        for (const note of notes) own.add(note)
        left -= bytes
        if (left < 0) own.add('field_omitted')
        putShared(to, left < 0 ? origin : flat)
      },
    }
  }
}

/** What a line can keep of it at most, of which `origin` is said by every line. */
function limitShared(given: Flat, limits: IngestLimits, notes: LineNotes) {
  const [flat, origin]: [Flat, Flat] = [new Map(), new Map()]
  const places = { origin: meanings.size, label: limits.labels, field: limits.fields }
  let bytes = 0
  for (const [name, value] of given) {
    const kind = kindOf(name)
    const left = limits.fieldsBytes - bytes - Buffer.byteLength(name)
    if (left <= 0 || places[kind] === 0) {
      notes.add(kind === 'label' ? 'label_omitted' : 'field_omitted')
      continue
    }
    places[kind] -= 1
    const kept = shortenValue(value, Math.min(left, limits.fieldValueBytes), () =>
      notes.add('field_shortened'),
    )
    bytes += Buffer.byteLength(name) + bytesOf(kept)
    flat.set(name, typeof kept === 'object' ? [...kept] : kept)
    if (kind === 'origin') origin.set(name, firstOf(kept) ?? '')
  }
  return { flat, origin, bytes }
}

function kindOf(name: string): 'origin' | 'label' | 'field' {
  if (meanings.has(name)) return 'origin'
  return saysOrigin(name) ? 'label' : 'field'
}

/** Whether a namespace or a pod is said already. */
export function isOfPod(flat: Flat): boolean {
  for (const name of flat.keys()) {
    const of = meanings.get(name)?.of
    if (of === 'namespace' || of === 'pod') return true
  }
  return false
}

function saysOrigin(name: string): boolean {
  return meanings.has(name) || labelPrefixes.some(prefix => name.startsWith(prefix))
}

/**
 * Adds a value under a name: members of objects under names of their own, lists of objects as JSON.
 * Of more names than are looked at, those are left out that say no origin.
 */
export function flatten(
  flat: Flat,
  name: string,
  value: unknown,
  notes: LineNotes,
  limits: IngestLimits,
  level = 0,
): void {
  if (value === null || value === undefined) return
  const isLeaf = isScalar(value) || Array.isArray(value) || level >= depth
  if (isLeaf && flat.size >= limits.lineValues && !meanings.has(name)) notes.add('field_omitted')
  else if (isScalar(value)) put(flat, name, value)
  else if (Array.isArray(value)) {
    if (value.length === 0) return
    put(flat, name, value.every(isScalar) ? value : formatMember(value, notes))
  } else if (level >= depth) put(flat, name, formatMember(value, notes))
  else
    for (const [key, member] of Object.entries(value))
      flatten(flat, `${name}.${key}`, member, notes, limits, level + 1)
}

/** In place of a value that is nested too deep. */
export const tooDeep = '(nested too deep)'

/** A value as JSON. */
export function formatMember(value: unknown, notes: LineNotes): string {
  try {
    return formatJson(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    notes.add('nested_too_deep')
    return tooDeep
  }
}

/**
 * The record of a line: where it comes from is taken out of what was said of it, and the rest is its fields. What is over a limit
 * is shortened or left out, and noted.
 *
 * @param flat is changed
 */
export function toRecord(
  { timeNs, log }: Pick<LogRecord, 'timeNs' | 'log'>,
  flat: Flat,
  limits: IngestLimits,
  notes: LineNotes,
): { readonly record: LogRecord; readonly notes?: Notes } {
  const { namespace, pod, container, host, dockerId } = withFile(takeOrigin(flat), flat)
  const name = (value: string) => shorten(value, limits.fieldBytes, noteOrigin)
  const noteOrigin = () => notes.add('origin_shortened')
  const labels = takeLabels(flat, limits, notes.add)
  const fields = toFields(flat, limits, notes.add)
  return {
    record: {
      timeNs,
      log: shorten(log, limits.lineBytes, () => notes.add('line_shortened')),
      namespace: name(namespace),
      pod: name(pod),
      container: name(container),
      host: name(host),
      dockerId: name(dockerId),
      ...(labels === undefined ? {} : { labels }),
      ...(fields === undefined ? {} : { fields }),
    },
    ...notes.result(),
  }
}

/**
 * Of several that say the same thing the first of its names counts, and the first value of that;
 * others stay where they say something else.
 */
function takeOrigin(flat: Flat): Record<OriginName, string> {
  const origin = { namespace: '', pod: '', container: '', host: '', dockerId: '' }
  const rank = { namespace: 0, pod: 0, container: 0, host: 0, dockerId: 0 }
  const found: [string, OriginName][] = []
  for (const [name, said] of flat) {
    const meaning = meanings.get(name)
    const value = meaning === undefined ? undefined : firstOf(said)
    if (meaning === undefined || typeof value !== 'string' || value === '') continue
    const { of, order } = meaning
    found.push([name, of])
    if (origin[of] === '' || order < rank[of]) {
      origin[of] = value
      rank[of] = order
    }
  }
  for (const [name, of] of found) takeOut(flat, name, value => value === origin[of])
  return origin
}

/**
 * Of a pod that its agent knows nothing of, the name of the file says where its lines come from.
 */
function withFile(origin: Record<OriginName, string>, flat: Flat): Record<OriginName, string> {
  for (const name of fileNames) {
    const file = flat.get(name)
    const said = typeof file === 'string' ? readFileName(file) : undefined
    if (said === undefined) continue
    const isUnknown = origin.namespace === '' && origin.pod === ''
    const whole = isUnknown ? { ...origin, ...said, dockerId: said.dockerId || origin.dockerId } : origin
    // What it says is all in the origin.
    if (
      said.dockerId !== '' &&
      Object.entries(said).every(([key, value]) => whole[key as OriginName] === value)
    )
      flat.delete(name)
    return whole
  }
  return origin
}

function readFileName(file: string): Omit<Record<OriginName, string>, 'host'> | undefined {
  if (!file.endsWith('.log') || file.length > maxFileName) return undefined
  const name = file.includes('/')
    ? file.slice(file.lastIndexOf('/') + 1)
    : file.replace(/^.*?\bcontainers\./, '')
  const ofContainer = containerFile.exec(name)
  if (ofContainer !== null) {
    const [, pod = '', namespace = '', container = '', dockerId = ''] = ofContainer
    return { namespace, pod, container, dockerId }
  }
  const [, namespace, pod = '', container = ''] = podFile.exec(file) ?? []
  return namespace === undefined ? undefined : { namespace, pod, container, dockerId: '' }
}

function firstOf(value: FieldValue): FieldScalar | undefined {
  return typeof value === 'object' ? value[0] : value
}

/** Removes the values of a name that are known elsewhere. */
function takeOut(flat: Flat, name: string, isKnown: (value: FieldScalar) => boolean): void {
  const value = flat.get(name) ?? []
  const rest = (typeof value === 'object' ? value : [value]).filter(one => !isKnown(one))
  const [only, second] = rest
  if (only === undefined) flat.delete(name)
  else flat.set(name, second === undefined ? only : rest)
}

function takeLabels(
  flat: Flat,
  limits: IngestLimits,
  note: (reason: 'label_omitted' | 'label_shortened') => void,
): Readonly<Record<string, string>> | undefined {
  const labels = new Map<string, string>()
  for (const [name, said] of flat) {
    const prefix = labelPrefixes.find(one => name.startsWith(one))
    if (prefix === undefined) continue
    const key = name.slice(prefix.length)
    const known = labels.get(key)
    const value = known ?? String(firstOf(said))
    takeOut(flat, name, one => String(one) === value)
    if (known !== undefined) continue
    if (labels.size >= limits.labels || Buffer.byteLength(key) > limits.labelKeyBytes) note('label_omitted')
    else labels.set(key, value)
  }
  if (labels.size === 0) return undefined
  const toValue = (value: string) => shorten(value, limits.fieldBytes, () => note('label_shortened'))
  return Object.fromEntries([...labels].map(([key, value]) => [key, toValue(value)]))
}

function toFields(
  flat: Flat,
  limits: IngestLimits,
  note: (reason: 'field_omitted' | 'field_shortened') => void,
): Fields | undefined {
  const fields: [string, FieldValue][] = []
  let left = limits.fieldsBytes
  for (const [name, value] of flat) {
    const nameBytes = Buffer.byteLength(name)
    if (fields.length >= limits.fields || nameBytes > limits.fieldNameBytes || nameBytes >= left) {
      note('field_omitted')
      continue
    }
    left -= nameBytes
    const most = Math.min(limits.fieldValueBytes, left)
    const kept = shortenValue(value, most, () => note('field_shortened'))
    left -= bytesOf(kept)
    fields.push([name, kept])
  }
  return fields.length === 0 ? undefined : Object.fromEntries(fields)
}

function shortenValue(value: FieldValue, bytes: number, note: () => void): FieldValue {
  if (typeof value === 'string') return shorten(value, bytes, note)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (typeof value !== 'object') return value
  let left = bytes
  const kept: FieldScalar[] = []
  for (const one of value) {
    left -= bytesOf(one) + 1
    if (left < 0) {
      note()
      break
    }
    kept.push(typeof one === 'number' && !Number.isFinite(one) ? String(one) : one)
  }
  return kept
}

function bytesOf(value: FieldValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  // A comma for each of a list: empty texts take something too.
  return typeof value === 'object' ? value.reduce((sum: number, one) => sum + bytesOf(one) + 1, 0) : 8
}
