import { compactJson, fieldText, withFields, withoutField } from '../../json/fields.ts'
import {
  fieldsOf,
  itemsOf,
  type KubeObject,
  type ObjectMeta,
  parseObject,
  textOf,
} from '../../kubeclient/object/object.ts'
import { type Decoration, type IndexedFields, type Kind, toSelfLink, toSourceApiVersion } from '../kind.ts'
import { type SourceText, splitObject } from './source-text.ts'
import { toUnpooledBuffer } from './unpooled-buffer.ts'

// Memory of parsed metadata, extracted fields and the head for the platform API, as measured for
// nodes and pods.
const overheadBytes = 2_048
const noDecoration: Decoration = { annotations: {}, cells: [] }

/** A kind with the group and version in which Kapis serves it. */
export type ServedKind = { readonly kind: Kind; readonly group: string; readonly version: string }

type ObjectParts = {
  readonly served: ServedKind
  readonly meta: ObjectMeta
  readonly fields: IndexedFields
  readonly updated: string
  readonly decoration: Decoration
  readonly head: Buffer
  readonly tail: Buffer
  readonly managedFields: Buffer | undefined
}

/**
 * One version of an object. Its JSON is stored as received, split at the top-level fields. Numbers,
 * escapes, the order of keys and unknown fields are returned as kube-apiserver sent them. It is
 * immutable: a new version or annotation is a new CachedObject, so a list that is being written
 * remains consistent. Only the head (kind, apiVersion and metadata) differs between the APIs; spec
 * and status are one shared tail.
 */
export class CachedObject {
  readonly served: ServedKind
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly version: number
  /** Parsed metadata without managedFields, for reading fields but not for output. */
  readonly meta: ObjectMeta
  readonly fields: IndexedFields
  /** Time of the last change, as RFC 3339 with whole seconds. */
  readonly updated: string
  readonly decoration: Decoration
  /** The text after the closing brace of metadata: `,"spec":{…},"status":{…}}`, or `}`. */
  readonly tail: Buffer
  /** metadata.managedFields, which is only returned on request. */
  readonly managedFields: Buffer | undefined
  readonly #head: Buffer
  #platformHead: Buffer | undefined

  private constructor(parts: ObjectParts) {
    const { served, meta, fields, updated, decoration, head, tail, managedFields } = parts
    this.served = served
    this.namespace = meta.namespace ?? ''
    this.name = meta.name
    this.key = toKey(this.namespace, this.name)
    this.version = Number(meta.resourceVersion)
    this.meta = meta
    this.fields = fields
    this.updated = updated
    this.decoration = decoration
    this.#head = head
    this.tail = tail
    this.managedFields = managedFields
  }

  /** @param json the object as received */
  static from(served: ServedKind, received: KubeObject, json: string): CachedObject {
    const { object, text } = withoutHidden(served.kind, received, json)
    const { managedFields: written, ...meta } = object.metadata
    const source = splitObject(text) ?? splitParsed(object)
    const head = toAggregatedPrefix(served) + source.metadata
    // A single allocation for all parts, since each allocation has overhead.
    const bytes = toUnpooledBuffer(head + source.tail + source.managedFields)
    const headLength = Buffer.byteLength(head)
    const managedAt = bytes.length - Buffer.byteLength(source.managedFields)
    const fields = served.kind.toFields(object)
    return new CachedObject({
      served,
      meta,
      fields,
      updated: fields.updated ?? toUpdated(meta.creationTimestamp, written),
      decoration: noDecoration,
      head: bytes.subarray(0, headLength),
      tail: bytes.subarray(headLength, managedAt),
      managedFields: managedAt === bytes.length ? undefined : bytes.subarray(managedAt),
    })
  }

  /** Estimated memory in bytes, including metadata and keys. */
  get size(): number {
    return this.#head.length + this.tail.length + (this.managedFields?.length ?? 0) + overheadBytes
  }

  /** The stored and the computed annotations. */
  get annotations(): Readonly<Record<string, string>> {
    return { ...this.meta.annotations, ...this.decoration.annotations }
  }

  /** Parses the object from its bytes, for rare access. Numbers are rounded. */
  parsed(): KubeObject {
    const { kind } = this.served
    const rest: unknown = JSON.parse(`{${this.tail.length > 1 ? this.tail.subarray(1) : '}'}`)
    return { kind: kind.kind, apiVersion: toSourceApiVersion(kind), metadata: this.meta, ...fieldsOf(rest) }
  }

  decorated(decoration: Decoration): CachedObject {
    return new CachedObject({ ...this.#parts(), decoration })
  }

  /** Returns the object at another version, for DELETED when it leaves a selection. */
  at(version: number): CachedObject {
    const resourceVersion = String(version)
    const metadata = withFields(this.metadata(), new Map([['resourceVersion', `"${resourceVersion}"`]]))
    return new CachedObject({
      ...this.#parts(),
      meta: { ...this.meta, resourceVersion },
      head: toUnpooledBuffer(toAggregatedPrefix(this.served) + metadata),
    })
  }

  /** Returns the JSON of metadata as received, without managedFields. */
  metadata(): string {
    return this.#head.toString('utf8', toAggregatedPrefix(this.served).length)
  }

  /** Returns kind, apiVersion and metadata for the extension API. */
  aggregatedHead(): Buffer {
    return this.#head
  }

  /**
   * Returns kind, apiVersion and metadata for the platform API: with the apiVersion of
   * kube-apiserver, selfLink (which Kubernetes has removed), and the computed annotations.
   */
  platformHead(): Buffer {
    if (this.#platformHead === undefined) {
      const { kind } = this.served
      const metadata = this.metadata()
      const selfLink = JSON.stringify(toSelfLink(kind, this.namespace, this.name))
      const added = new Map([['selfLink', selfLink]])
      if (Object.keys(this.decoration.annotations).length > 0)
        added.set('annotations', this.#annotationsText(metadata))
      this.#platformHead = toUnpooledBuffer(
        toPrefix(kind.kind, toSourceApiVersion(kind)) + withFields(metadata, added),
      )
    }
    return this.#platformHead
  }

  #annotationsText(metadata: string): string {
    const computed = Object.entries(this.decoration.annotations)
    const own = fieldText(metadata, 'annotations') || '{}'
    return withFields(own, new Map(computed.map(([name, value]) => [name, JSON.stringify(value)])))
  }

  #parts(): ObjectParts {
    const { served, meta, fields, updated, decoration, tail, managedFields } = this
    return { served, meta, fields, updated, decoration, head: this.#head, tail, managedFields }
  }
}

/**
 * Prepares the JSON of an object for storage: on one line, since a line feed ends a watch event,
 * and without the hidden fields of its kind.
 */
function withoutHidden(kind: Kind, received: KubeObject, json: string) {
  const line = json.includes('\n') || json.includes('\r') ? compactJson(json) : json
  if (kind.hidden === undefined) return { object: received, text: line }
  const text = kind.hidden.reduce(withoutField, line)
  return { object: parseObject(JSON.parse(text)), text }
}

/** Splits a parsed object into the same parts. */
function splitParsed(object: KubeObject): SourceText {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object
  const { managedFields, ...meta } = metadata
  const tail = JSON.stringify(rest)
  return {
    metadata: JSON.stringify(meta),
    managedFields: managedFields === undefined ? '' : JSON.stringify(managedFields),
    tail: tail === '{}' ? '}' : `,${tail.slice(1)}`,
  }
}

/** Returns the time of the last update in managedFields; without any, the creation time. */
function toUpdated(creationTimestamp: string, managedFields: unknown): string {
  let latest = creationTimestamp
  for (const field of itemsOf(managedFields)) {
    const time = textOf(fieldsOf(field).time)
    if (time > latest) latest = time
  }
  return latest
}

function toAggregatedPrefix({ kind, group, version }: ServedKind): string {
  return toPrefix(kind.kind, `${group}/${version}`)
}

function toPrefix(kind: string, apiVersion: string): string {
  return `{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},"metadata":`
}

/** Returns the key by which objects are ordered: by namespace, then by name, bytewise. */
export function toKey(namespace: string, name: string): string {
  return namespace === '' ? name : `${toKeyPrefix(namespace)}${name}`
}

export function toKeyPrefix(namespace: string): string {
  return `${namespace}/`
}
