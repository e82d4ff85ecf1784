import { aggregatedForm } from '../../resourcecache/list/list-body.ts'
import type { CachedObject, ServedKind } from '../../resourcecache/store/cached-object.ts'
import {
  type BookmarkMeta,
  type Encoder,
  type EventType,
  eventParts,
  toBookmarkMeta,
} from '../../resourcecache/watch/watch-encoder.ts'
import { type MetaVersion, type TableOptions, tableHead, tableOfObject, toPartial } from './table.ts'

/** The representation of objects in the events of a watch. */
export type Shape =
  | { readonly as: 'object' }
  | { readonly as: 'partial'; readonly version: 'v1' | 'v1beta1' }
  | ({ readonly as: 'table' } & Omit<TableOptions, 'nowMs'>)

/**
 * Creates the encoder for the events of a watch. In a watch of tables, only the first event
 * contains the column definitions, as in kube-apiserver.
 */
export function createEncoder(served: ServedKind, shape: Shape): Encoder {
  const name = `aggregated ${JSON.stringify(shape)}`
  const plain = { name, ...createEventEncoder(served, shape, false) }
  return shape.as === 'table' ? { ...plain, opening: createEventEncoder(served, shape, true) } : plain
}

function createEventEncoder(
  served: ServedKind,
  shape: Shape,
  showsColumns: boolean,
): Omit<Encoder, 'name' | 'opening'> {
  const pieces = (type: EventType, entry: CachedObject) =>
    eventParts(type, objectParts(entry, shape, showsColumns))
  return {
    event: (type, entry) => Buffer.concat(pieces(type, entry)),
    pieces,
    bookmark(version, endsInitialEvents) {
      const metadata = toBookmarkMeta(version, endsInitialEvents)
      const object =
        shape.as === 'table'
          ? tableOfBookmark(served, shape.version, metadata, showsColumns)
          : bookmarkOf(served, shape, metadata)
      return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
    },
  }
}

function objectParts(entry: CachedObject, shape: Shape, showsColumns: boolean): readonly Buffer[] {
  if (shape.as === 'object') return aggregatedForm.toParts(entry)
  if (shape.as === 'partial') return [Buffer.from(toPartial(entry, shape.version))]
  return [Buffer.from(tableOfObject(entry, { ...shape, nowMs: Date.now() }, showsColumns))]
}

/** Returns a bookmark of the watched kind: reflectors drop events of any other kind. */
function bookmarkOf(
  { kind, group, version }: ServedKind,
  shape: Exclude<Shape, { as: 'table' }>,
  metadata: BookmarkMeta,
): object {
  if (shape.as === 'object') return { kind: kind.kind, apiVersion: `${group}/${version}`, metadata }
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${shape.version}`, metadata }
}

function tableOfBookmark(
  { kind }: ServedKind,
  version: MetaVersion,
  metadata: BookmarkMeta,
  showsColumns: boolean,
): object {
  const head = tableHead(kind, version, { resourceVersion: metadata.resourceVersion })
  const object = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
  const rows = [{ cells: kind.columns.map(() => null), object }]
  return { ...head, ...(showsColumns ? {} : { columnDefinitions: null }), rows }
}
