import { aggregatedForm } from '../resources/body.ts'
import type { Entry, ServedKind } from '../resources/entry.ts'
import type { Change } from '../resources/history.ts'
import { toKubeStatus } from '../status/render-kube.ts'
import type { Status } from '../status/status.ts'
import { type TableOptions, tableHead, tableOfObject, toPartial } from './table.ts'

/** How objects look in the events of one kind of watch. */
export type Shape =
  | { readonly as: 'object' }
  | { readonly as: 'partial'; readonly version: 'v1' | 'v1beta1' }
  | ({ readonly as: 'table' } & Omit<TableOptions, 'nowMs'>)

export type Encoder = {
  readonly event: (type: 'ADDED' | 'MODIFIED' | 'DELETED', entry: Entry) => Buffer
  /** The event that a change is for a selection: entering it is ADDED, leaving it is DELETED; undefined for neither. */
  readonly change: (change: Change, matches: (entry: Entry) => boolean) => Buffer | undefined
  readonly bookmark: (version: number, endsInitialEvents: boolean) => Buffer
}

const initialEventsEnd = 'k8s.io/initial-events-end'

export function createEncoder(served: ServedKind, shape: Shape): Encoder {
  // Tables tell their columns once for each stream; an encoder that watchers share repeats them, which clients accept.
  const event = (type: string, entry: Entry) => toEvent(type, entry, shape)
  return {
    event,
    change(change, matches) {
      const { type, entry, old } = change
      const is = type !== 'DELETED' && matches(entry)
      const was = old !== undefined && matches(old)
      if (is) return event(was ? 'MODIFIED' : 'ADDED', entry)
      if (!was) return undefined
      // The last state that was in the selection, at the version at which it left.
      return event('DELETED', type === 'DELETED' ? entry : old.at(change.version))
    },
    bookmark: (version, endsInitialEvents) => toBookmark(served, shape, version, endsInitialEvents),
  }
}

/** The ERROR event with which a watch ends; its object is always a Status. */
export function encodeError(status: Status): Buffer {
  return Buffer.from(`{"type":"ERROR","object":${JSON.stringify(toKubeStatus(status))}}\n`)
}

function toEvent(type: string, entry: Entry, shape: Shape): Buffer {
  const opening = `{"type":"${type}","object":`
  if (shape.as === 'object') {
    return Buffer.concat([Buffer.from(opening), aggregatedForm.toHead(entry), entry.tail, Buffer.from('}\n')])
  }
  const object =
    shape.as === 'partial'
      ? toPartial(entry, shape.version)
      : tableOfObject(entry, { ...shape, nowMs: Date.now() })
  return Buffer.from(`${opening}${object}}\n`)
}

/** A bookmark has the type of the stream's objects: reflectors drop events of any other. */
function toBookmark(served: ServedKind, shape: Shape, version: number, endsInitialEvents: boolean): Buffer {
  const annotations = endsInitialEvents ? { annotations: { [initialEventsEnd]: 'true' } } : {}
  const metadata = { resourceVersion: String(version), creationTimestamp: null, ...annotations }
  const apiVersion = `${served.group}/${served.version}`
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
  if (shape.as === 'table') {
    const head = tableHead(served.kind, shape.version, { resourceVersion: String(version) })
    const row = { cells: served.kind.columns.map(() => null), object: partial }
    const table = JSON.stringify({ ...head, columnDefinitions: null, rows: [row] })
    return Buffer.from(`{"type":"BOOKMARK","object":${table}}\n`)
  }
  const object =
    shape.as === 'object'
      ? { kind: served.kind.kind, apiVersion, metadata }
      : { ...partial, apiVersion: `meta.k8s.io/${shape.version}` }
  return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
}
