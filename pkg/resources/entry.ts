import type { KubeObject, ObjectMeta } from '../kube/object.ts'
import { type Decoration, type Facts, type Kind, toSelfLink, toSourceApiVersion } from './kind.ts'

const noDecoration: Decoration = { annotations: {}, cells: [] }

/** A kind together with the group version that Kapis serves it under. */
export type ServedKind = { readonly kind: Kind; readonly group: string; readonly version: string }

type Parts = {
  readonly served: ServedKind
  readonly meta: ObjectMeta
  readonly facts: Facts
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
  readonly decoration: Decoration
  /** What follows metadata's closing brace: `,"spec":{…},"status":{…}}`, or `}` alone. */
  readonly tail: Buffer
  /** metadata.managedFields, for those who ask for it. */
  readonly managedFields: Buffer | undefined
  #aggregatedHead: Buffer | undefined
  #platformHead: Buffer | undefined

  private constructor(parts: Parts) {
    const { served, meta, facts, decoration, tail, managedFields } = parts
    this.served = served
    this.namespace = meta.namespace ?? ''
    this.name = meta.name
    this.key = toKey(this.namespace, this.name)
    this.version = Number(meta.resourceVersion)
    this.meta = meta
    this.facts = facts
    this.decoration = decoration
    this.tail = tail
    this.managedFields = managedFields
  }

  static from(served: ServedKind, object: KubeObject): Entry {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object
    const { managedFields, ...meta } = metadata
    const body = JSON.stringify(rest)
    return new Entry({
      served,
      meta,
      facts: served.kind.toFacts(object),
      decoration: noDecoration,
      tail: Buffer.from(body === '{}' ? '}' : `,${body.slice(1)}`),
      managedFields: managedFields === undefined ? undefined : Buffer.from(JSON.stringify(managedFields)),
    })
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
        annotations: { ...this.meta.annotations, ...this.decoration.annotations },
      })
    }
    return this.#platformHead
  }

  #parts(): Parts {
    const { served, meta, facts, decoration, tail, managedFields } = this
    return { served, meta, facts, decoration, tail, managedFields }
  }
}

function toHead(kind: string, apiVersion: string, metadata: object): Buffer {
  return Buffer.from(`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)}`)
}

/** Objects are ordered by this key: namespace first, then name, bytewise. */
export function toKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`
}
