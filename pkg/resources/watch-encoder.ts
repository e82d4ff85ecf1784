import { toKubeStatus } from '../status/render-kube.ts'
import type { Status } from '../status/status.ts'
import { type Form, objectBytes } from './body.ts'
import type { Entry, ServedKind } from './entry.ts'
import type { Change } from './history.ts'
import { toSourceApiVersion } from './kind.ts'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** How a watch tells what it tells; one JSON object and a line feed for each event. */
export type Encoder = Telling & {
  /** Tells the first event of a stream, when that one says more than those behind it. */
  readonly opening?: Telling
}

type Telling = {
  readonly event: (type: EventType, entry: Entry) => Buffer
  /** The event that a change is for a selection: entering it is ADDED, leaving it is DELETED; undefined for neither. */
  readonly change: (change: Change, matches: (entry: Entry) => boolean) => Buffer | undefined
  readonly bookmark: (version: number, endsInitialEvents: boolean) => Buffer
}

const initialEventsEnd = 'k8s.io/initial-events-end'

/** What a change is for a selection, by whatever way one event is encoded. */
export function toChangeEncoder(event: Encoder['event']): Encoder['change'] {
  return ({ version, type, entry, old }, matches) => {
    const is = type !== 'DELETED' && matches(entry)
    const was = old !== undefined && matches(old)
    if (is) return event(was ? 'MODIFIED' : 'ADDED', entry)
    if (!was) return undefined
    // The last state that was in the selection, at the version at which it left.
    return event('DELETED', type === 'DELETED' ? entry : old.at(version))
  }
}

/** The same events in what a stream puts around each. */
export function toFramed(encoder: Encoder, frame: (event: Buffer) => Buffer): Encoder {
  const { opening } = encoder
  return { ...frameEach(encoder, frame), ...(opening ? { opening: frameEach(opening, frame) } : {}) }
}

function frameEach(telling: Telling, frame: (event: Buffer) => Buffer): Telling {
  return {
    event: (type, entry) => frame(telling.event(type, entry)),
    change(change, matches) {
      const event = telling.change(change, matches)
      return event && frame(event)
    },
    bookmark: (version, endsInitialEvents) => frame(telling.bookmark(version, endsInitialEvents)),
  }
}

/** For what one stream begins with: the first event that is told is an opening one. */
export function openingOnce(encoder: Encoder): Telling {
  const { opening } = encoder
  if (opening === undefined) return encoder
  let now = opening
  const told = <T>(event: T): T => {
    if (event !== undefined) now = encoder
    return event
  }
  return {
    event: (type, entry) => told(now.event(type, entry)),
    change: (change, matches) => told(now.change(change, matches)),
    bookmark: (version, endsInitialEvents) => told(now.bookmark(version, endsInitialEvents)),
  }
}

/** Events with whole objects, as one form shows them under the orchestrator's own apiVersion. */
export function createFormEncoder({ kind }: ServedKind, form: Form): Encoder {
  const event: Encoder['event'] = (type, entry) =>
    Buffer.concat([Buffer.from(`{"type":"${type}","object":`), objectBytes(entry, form), Buffer.from('}\n')])
  return {
    event,
    change: toChangeEncoder(event),
    bookmark(version, endsInitialEvents) {
      const metadata = toBookmarkMeta(version, endsInitialEvents)
      const object = { kind: kind.kind, apiVersion: toSourceApiVersion(kind), metadata }
      return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
    },
  }
}

export type BookmarkMeta = { readonly resourceVersion: string; readonly creationTimestamp: null }

/** metadata of a bookmark; the end of the initial events is told by an annotation (KEP-3157). */
export function toBookmarkMeta(version: number, endsInitialEvents: boolean): BookmarkMeta {
  const annotations = endsInitialEvents ? { annotations: { [initialEventsEnd]: 'true' } } : {}
  return { resourceVersion: String(version), creationTimestamp: null, ...annotations }
}

/** The ERROR event with which a watch ends; its object is always a Status. */
export function encodeError(status: Status): Buffer {
  return Buffer.from(`{"type":"ERROR","object":${JSON.stringify(toKubeStatus(status))}}\n`)
}
