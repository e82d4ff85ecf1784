import { aggregatedForm } from '../resources/body.ts'
import type { Entry, ServedKind } from '../resources/entry.ts'
import { type Encoder, toBookmarkMeta, toChangeEncoder } from '../resources/watch-encoder.ts'
import { type TableOptions, tableHead, tableOfObject, toPartial } from './table.ts'

/** How objects look in the events of one kind of watch. */
export type Shape =
  | { readonly as: 'object' }
  | { readonly as: 'partial'; readonly version: 'v1' | 'v1beta1' }
  | ({ readonly as: 'table' } & Omit<TableOptions, 'nowMs'>)

export function createEncoder(served: ServedKind, shape: Shape): Encoder {
  // Tables tell their columns once for each stream; an encoder that watchers share repeats them, which clients accept.
  const event: Encoder['event'] = (type, entry) => toEvent(type, entry, shape)
  return {
    event,
    change: toChangeEncoder(event),
    bookmark: (version, endsInitialEvents) => toBookmark(served, shape, version, endsInitialEvents),
  }
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
  const metadata = toBookmarkMeta(version, endsInitialEvents)
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
