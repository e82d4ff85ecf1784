import type { KubeObject } from '../kubeclient/object/object.ts'

/** A column of a Table, as metav1.TableColumnDefinition. Priority 1 is only shown by `-o wide`. */
export type Column = {
  readonly name: string
  readonly type: 'string' | 'integer'
  readonly format: '' | 'name'
  readonly priority: 0 | 1
  readonly description: string
}

/**
 * A cell of a row. An age is stored as the time it is computed from; `ago` is one in parentheses
 * after a text.
 */
export type Cell =
  | string
  | number
  | { readonly since: string }
  | { readonly text: string; readonly ago: string }

/** The fields that lists use, extracted once when an object arrives. */
export type IndexedFields = {
  /** The word that `status=` filters by. */
  readonly status: string
  readonly cells: readonly Cell[]
  /** Kind-specific values that filters and decorations read. */
  readonly values: Readonly<Record<string, string>>
  /**
   * The time of the last change according to the kind itself (RFC 3339); otherwise managed fields
   * decide.
   */
  readonly updated?: string
}

/** Data about an object that comes from other objects. */
export type Decoration = {
  readonly annotations: Readonly<Record<string, string>>
  readonly cells: readonly Cell[]
}

/** Narrows a list by one query parameter. @throws Status 400 when the value is not allowed */
export type FilterParser = (value: string) => (fields: IndexedFields) => boolean

/** Settings of a kind, in addition to its discovery. */
export type KindOptions = {
  readonly toFields: (object: KubeObject) => IndexedFields
  readonly filters: Readonly<Record<string, FilterParser>>
  /** Columns of its Table, for kinds that are served through aggregation. */
  readonly columns?: readonly Column[]
  /** Fields that callers must not read, each as a path of names. */
  readonly hidden?: readonly (readonly string[])[]
}

/** Everything that serving a kind takes. */
export type Kind = KindOptions & {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  /** Its API group at kube-apiserver. */
  readonly source: { readonly group: string; readonly version: string; readonly path: string }
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly columns: readonly Column[]
  /** The kind cannot be watched, and is listed for each request. */
  readonly isListedOnly?: true
}

/** The path of an object in kube-apiserver's own API. */
export function toSelfLink(kind: Kind, namespace: string, name: string): string {
  const scope =
    kind.source.group === ''
      ? `/api/${kind.source.version}`
      : `/apis/${kind.source.group}/${kind.source.version}`
  return namespace === ''
    ? `${scope}/${kind.plural}/${name}`
    : `${scope}/namespaces/${namespace}/${kind.plural}/${name}`
}

export function toSourceApiVersion({ source }: Kind): string {
  return source.group === '' ? source.version : `${source.group}/${source.version}`
}

export function column(name: string, priority: 0 | 1, description: string, format: '' | 'name' = ''): Column {
  return { name, type: 'string', format, priority, description }
}

export function integerColumn(name: string, priority: 0 | 1, description: string): Column {
  return { name, type: 'integer', format: '', priority, description }
}
