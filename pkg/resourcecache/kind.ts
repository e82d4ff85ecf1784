import type { KubeObject } from '../kubeclient/object/object.ts'

/** A column of a Table, as metav1.TableColumnDefinition. Priority 1 is only shown by `-o wide`. */
export type Column = {
  readonly name: string
  readonly type: 'string' | 'integer'
  readonly format: '' | 'name'
  readonly priority: 0 | 1
  readonly description: string
}

/** A cell of a row. An age is its start time; `ago` is an age in parentheses. */
export type Cell =
  | string
  | number
  | { readonly since: string }
  | { readonly text: string; readonly ago: string }

/** The values that lists use, extracted once when an object arrives. */
export type IndexedFields = {
  /** The value for the filter `status`. */
  readonly status: string
  readonly cells: readonly Cell[]
  /** Kind-specific values that filters and decorations read. */
  readonly values: Readonly<Record<string, string>>
  /** Time of the last change (RFC 3339), if the kind stores it; else managedFields. */
  readonly updated?: string
}

/** Annotations and cells of an object that are computed from other objects. */
export type Decoration = {
  readonly annotations: Readonly<Record<string, string>>
  readonly cells: readonly Cell[]
}

/** Parses the value of a filter parameter. @throws Status 400 for a value that is not allowed */
export type FilterParser = (value: string) => (fields: IndexedFields) => boolean

/** Properties of a kind that discovery does not provide. */
export type KindOptions = {
  readonly toFields: (object: KubeObject) => IndexedFields
  readonly filters: Readonly<Record<string, FilterParser>>
  /** Columns of the Table, for kinds of the extension API. */
  readonly columns?: readonly Column[]
  /** Paths of fields that callers must not read. */
  readonly hidden?: readonly (readonly string[])[]
}

/** A kind with all properties that are needed to serve it. */
export type Kind = KindOptions & {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  /** API group, version and path of the kind at kube-apiserver. */
  readonly source: { readonly group: string; readonly version: string; readonly path: string }
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly columns: readonly Column[]
  /** Set for kinds that cannot be watched: they are listed for each request. */
  readonly isListedOnly?: true
  /** The member cluster of the objects; unset for this cluster. */
  readonly cluster?: string
}

/** Returns the path of an object in the API of kube-apiserver, or of that of its member cluster. */
export function toSelfLink(kind: Kind, namespace: string, name: string): string {
  const api =
    kind.source.group === ''
      ? `/api/${kind.source.version}`
      : `/apis/${kind.source.group}/${kind.source.version}`
  const scope = kind.cluster === undefined ? api : `/clusters/${kind.cluster}${api}`
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
