import { itemsOf, type KubeObject, membersOf, type ObjectMeta, textOf } from '../kube/object.ts'
import { type Decoration, type Facts, type Kind, toSelfLink, toSourceApiVersion } from './kind.ts'
import { toOwnBytes } from './own-bytes.ts'

// Metadata, facts and the heads that are made of them, measured on nodes and pods.
const overheadBytes = 2_048
const noDecoration: Decoration = { annotations: {}, cells: [] }

/** A kind together with the group version that Kapis serves it under. */
export type ServedKind = { readonly kind: Kind; readonly group: string; readonly version: string }

type Parts = {
  readonly served: ServedKind
  readonly meta: ObjectMeta
  readonly facts: Facts
  readonly updated: string
  readonly decoration: Decoration
  readonly tail: Buffer
  readonly managedFields: Buffer | undefined
}

/**
 * One version of one object, serialized when it arrives and never parsed again. Entries do not change: a new version, or a
 * new decoration, is a new entry, so that a list that is being written keeps showing what it began with.
 *
 * What differs between the faces is the head (kind, apiVersion and metadata); the bulk, spec and status, is one shared tail.
 */
export class Entry {
  readonly served: ServedKind
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly version: number
  /** metadata without managedFields. */
  readonly meta: ObjectMeta
  readonly facts: Facts
  /** When it last changed, as RFC 3339 with whole seconds. */
  readonly updated: string
  readonly decoration: Decoration
  /** What follows metadata's closing brace: `,"spec":{…},"status":{…}}`, or `}` alone. */
  readonly tail: Buffer
  /** metadata.managedFields, for those who ask for it. */
  readonly managedFields: Buffer | undefined
  #aggregatedHead: Buffer | undefined
  #platformHead: Buffer | undefined

  private constructor(parts: Parts) {
    const { served, meta, facts, updated, decoration, tail, managedFields } = parts
    this.served = served
    this.namespace = meta.namespace ?? ''
    this.name = meta.name
    this.key = toKey(this.namespace, this.name)
    this.version = Number(meta.resourceVersion)
    this.meta = meta
    this.facts = facts
    this.updated = updated
    this.decoration = decoration
    this.tail = tail
    this.managedFields = managedFields
  }

  static from(served: ServedKind, received: KubeObject): Entry {
    const object = served.kind.redact?.(received) ?? received
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object
    const { managedFields, ...meta } = metadata
    const body = JSON.stringify(rest)
    const facts = served.kind.toFacts(object)
    return new Entry({
      served,
      meta,
      facts,
      updated: facts.updated ?? toUpdated(metadata),
      decoration: noDecoration,
      tail: toOwnBytes(body === '{}' ? '}' : `,${body.slice(1)}`),
      managedFields: managedFields === undefined ? undefined : toOwnBytes(JSON.stringify(managedFields)),
    })
  }

  /** An estimate of the bytes that it takes in memory, its metadata and keys included. */
  get size(): number {
    return this.tail.length + (this.managedFields?.length ?? 0) + overheadBytes
  }

  /** Its own annotations and those that were computed. */
  get annotations(): Readonly<Record<string, string>> {
    return { ...this.meta.annotations, ...this.decoration.annotations }
  }

  /** The object again, parsed from its bytes: for what is asked of it rarely. */
  parsed(): KubeObject {
    const { kind } = this.served
    const rest: unknown = JSON.parse(`{${this.tail.length > 1 ? this.tail.subarray(1) : '}'}`)
    return { kind: kind.kind, apiVersion: toSourceApiVersion(kind), metadata: this.meta, ...membersOf(rest) }
  }

  decorated(decoration: Decoration): Entry {
    return new Entry({ ...this.#parts(), decoration })
  }

  /** The same object at another resource version: what a watcher is told when an object leaves its selection. */
  at(version: number): Entry {
    return new Entry({ ...this.#parts(), meta: { ...this.meta, resourceVersion: String(version) } })
  }

  /** kind, apiVersion and metadata as the aggregated API shows them. */
  aggregatedHead(): Buffer {
    const { kind, group, version } = this.served
    this.#aggregatedHead ??= toHead(kind.kind, `${group}/${version}`, this.meta)
    return this.#aggregatedHead
  }

  /**
   * The same as the platform API shows it: the orchestrator's own apiVersion, the selfLink that Kubernetes stopped
   * sending, and the computed annotations among the object's own.
   */
  platformHead(): Buffer {
    if (this.#platformHead === undefined) {
      const { kind } = this.served
      this.#platformHead = toHead(kind.kind, toSourceApiVersion(kind), {
        ...this.meta,
        selfLink: toSelfLink(kind, this.namespace, this.name),
        ...(this.decoration === noDecoration ? {} : { annotations: this.annotations }),
      })
    }
    return this.#platformHead
  }

  #parts(): Parts {
    const { served, meta, facts, updated, decoration, tail, managedFields } = this
    return { served, meta, facts, updated, decoration, tail, managedFields }
  }
}

/** Servers note when each manager last wrote; what nobody noted has not changed since it was made. */
function toUpdated({ managedFields, creationTimestamp }: ObjectMeta): string {
  let latest = creationTimestamp
  for (const field of itemsOf(managedFields)) {
    const time = textOf(membersOf(field).time)
    if (time > latest) latest = time
  }
  return latest
}

function toHead(kind: string, apiVersion: string, metadata: object): Buffer {
  return toOwnBytes(`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)}`)
}

/** Objects are ordered by this key: namespace first, then name, bytewise. */
export function toKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`
}
