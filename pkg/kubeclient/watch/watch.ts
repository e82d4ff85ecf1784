import type { Readable } from 'node:stream'
import { type Details, type Reason, Status } from '../../apierrors/status.ts'
import { fieldText } from '../../json/fields.ts'
import { isKubeObject, isRecord, type KubeObject } from '../object/object.ts'

export type WatchEvent = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: KubeObject
}

/** An event with the received JSON of its object; '' for a bookmark. */
export type ReceivedEvent = WatchEvent & { readonly json: string }

/**
 * Reads the events of a watch until the server ends it.
 *
 * @throws Status of an ERROR event (410 Expired if the resource version is too old), or the error
 * of the stream
 */
export async function* readWatch(stream: Readable): AsyncGenerator<readonly ReceivedEvent[]> {
  let rest: Buffer[] = []
  for await (const chunk of stream) {
    const last = chunk.lastIndexOf(0x0a)
    if (last < 0) {
      rest.push(chunk)
      continue
    }
    const text = Buffer.concat([...rest, chunk.subarray(0, last)]).toString('utf8')
    rest = last + 1 < chunk.length ? [chunk.subarray(last + 1)] : []
    // Events that arrived together are delivered together, so that handlers can batch them.
    yield text.split('\n').filter(Boolean).map(parseEvent)
  }
}

function parseEvent(line: string): ReceivedEvent {
  const event: unknown = JSON.parse(line)
  if (!isRecord(event)) throw new Error('a watch event is not an object')
  const { type, object } = event
  if (type === 'ERROR') throw toStatus(object)
  if ((type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') && isKubeObject(object))
    return { type, object, json: objectText(line, event) }
  // A bookmark has a resource version but no name.
  if (type === 'BOOKMARK' && isRecord(object) && isRecord(object.metadata)) {
    const resourceVersion = String(object.metadata.resourceVersion)
    const metadata = { name: '', uid: '', creationTimestamp: '', resourceVersion }
    return { type, object: { metadata }, json: '' }
  }
  throw new Error(`invalid watch event of type ${JSON.stringify(type)}`)
}

const opening = /^\{"type":"[A-Z]+","object":(?=\{)/

function objectText(line: string, event: Readonly<Record<string, unknown>>): string {
  // Fast path: the format in which kube-apiserver writes events needs no search for the object.
  const [found] = opening.exec(line) ?? []
  if (found !== undefined && line.endsWith('}}') && Object.keys(event).length === 2)
    return line.slice(found.length, -1)
  return fieldText(line, 'object')
}

function toStatus(object: unknown): Status {
  const {
    code,
    reason,
    message,
    details,
  }: { code?: number; reason?: Reason; message?: string; details?: Details } = isRecord(object) ? object : {}
  return new Status(
    code ?? 500,
    reason ?? 'InternalError',
    message ?? 'watch error',
    details ? { details } : {},
  )
}
