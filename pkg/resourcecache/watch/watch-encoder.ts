import { toKubeStatus } from '../../apierrors/render-kube.ts'
import type { Status } from '../../apierrors/status.ts'
import type { EventStream } from '../../httpserver/response/event-stream.ts'
import { toSourceApiVersion } from '../kind.ts'
import type { Form } from '../list/list-body.ts'
import type { CachedObject, ServedKind } from '../store/cached-object.ts'
import type { WatchChange } from '../store/watch-window.ts'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** The encoding of a watch: one JSON object and a line feed per event. */
export type Encoder = EventEncoder & {
  /** Identifies the encoding: encoders with the same name produce the same result. */
  readonly name: string
  /** Encodes the first event of a stream, if it differs from later events. */
  readonly opening?: EventEncoder
}

export type EventEncoder = {
  readonly event: (type: EventType, entry: CachedObject) => Buffer
  /** Encodes an event in parts, whose large ones all watchers share. */
  readonly pieces?: (type: EventType, entry: CachedObject) => Iterable<Buffer>
  readonly bookmark: (version: number, endsInitialEvents: boolean) => Buffer
}

const initialEventsEnd = 'k8s.io/initial-events-end'

/** The effect of a change on a selection. */
export type SelectedEvent = {
  readonly type: EventType
  readonly entry: () => CachedObject
  readonly isTerminating: boolean
}

/**
 * Returns the event that a change causes in a selection: ADDED for an object that now matches,
 * DELETED for one that no longer does; undefined if neither state matches.
 */
export function toSelectedEvent(
  { version, type, entry, old }: WatchChange,
  matches: (entry: CachedObject) => boolean,
): SelectedEvent | undefined {
  const is = type !== 'DELETED' && matches(entry)
  const was = old !== undefined && matches(old)
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', entry: () => entry, isTerminating: false }
  if (!was) return undefined
  if (type === 'DELETED') return { type, entry: () => entry, isTerminating: false }
  // The last state that was in the selection, at the version at which it left.
  return { type: 'DELETED', entry: () => old.at(version), isTerminating: true }
}

/** Returns an encoder in the framing of a stream: lines, server-sent events, messages. */
export function toFramed(encoder: Encoder, stream: Pick<EventStream, 'name' | 'frame' | 'pieces'>): Encoder {
  const { opening } = encoder
  return {
    name: `${stream.name} ${encoder.name}`,
    ...frameEach(encoder, stream),
    ...(opening ? { opening: frameEach(opening, stream) } : {}),
  }
}

function frameEach(
  encoder: EventEncoder,
  { frame, pieces }: Pick<EventStream, 'frame' | 'pieces'>,
): EventEncoder {
  const inPieces = encoder.pieces
  return {
    event: (type, entry) => frame(encoder.event(type, entry)),
    ...(inPieces ? { pieces: (type, entry) => pieces([...inPieces(type, entry)]) } : {}),
    bookmark: (version, endsInitialEvents) => frame(encoder.bookmark(version, endsInitialEvents)),
  }
}

/** Returns an encoder for initial events, the first of which opens the stream. */
export function openingOnce(encoder: Encoder): EventEncoder {
  const { opening } = encoder
  if (opening === undefined) return encoder
  let now = opening
  const once = <T>(event: T): T => {
    now = encoder
    return event
  }
  return {
    event: (type, entry) => once(now.event(type, entry)),
    bookmark: (version, endsInitialEvents) => once(now.bookmark(version, endsInitialEvents)),
  }
}

/** Returns the JSON of an event in parts, with the parts of its object. */
export function eventParts(type: EventType, object: readonly Buffer[]): readonly Buffer[] {
  return [Buffer.from(`{"type":"${type}","object":`), ...object, eventEnd]
}

const eventEnd = Buffer.from('}\n')

/** Encodes events with whole objects in a projection, with the apiVersion of kube-apiserver. */
export function createFormEncoder({ kind }: ServedKind, form: Form): Encoder {
  const pieces = (type: EventType, entry: CachedObject) => eventParts(type, form.toParts(entry))
  return {
    name: form.name,
    event: (type, entry) => Buffer.concat(pieces(type, entry)),
    pieces,
    bookmark(version, endsInitialEvents) {
      const metadata = toBookmarkMeta(version, endsInitialEvents)
      const object = { kind: kind.kind, apiVersion: toSourceApiVersion(kind), metadata }
      return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
    },
  }
}

export type BookmarkMeta = { readonly resourceVersion: string; readonly creationTimestamp: null }

/** Returns the metadata of a bookmark; an annotation ends initial events (KEP-3157). */
export function toBookmarkMeta(version: number, endsInitialEvents: boolean): BookmarkMeta {
  const annotations = endsInitialEvents ? { annotations: { [initialEventsEnd]: 'true' } } : {}
  return { resourceVersion: String(version), creationTimestamp: null, ...annotations }
}

/** Returns the ERROR event that ends a watch; its object is always a Status. */
export function encodeError(status: Status): Buffer {
  return Buffer.from(`{"type":"ERROR","object":${JSON.stringify(toKubeStatus(status))}}\n`)
}
