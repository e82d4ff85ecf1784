/** The fields of metav1.ObjectMeta that Kapis reads. */
export type ObjectMeta = {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly creationTimestamp: string
  readonly generation?: number
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly {
    readonly apiVersion?: string
    readonly kind: string
    readonly name: string
    readonly uid: string
  }[]
  readonly managedFields?: unknown
}

/** A Kubernetes object with typed metadata; other fields depend on the kind. */
export type KubeObject = {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
  readonly [member: string]: unknown
}

export type KubeList = {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly KubeObject[]
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the fields of an unknown value; none if it is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

/** Returns the items of an unknown value; none if it is not an array. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Orders the oldest first, then by name: a total order, on which all replicas agree. */
export function byAge<T extends { readonly createdAt: string; readonly name: string }>(a: T, b: T): number {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.name < b.name) ? -1 : 1
}

/** Converts a value to text; '' for objects and null. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

/** Checks that an object of kube-apiserver has a name and a resource version. */
export function isKubeObject(value: unknown): value is KubeObject {
  if (!isRecord(value) || !isRecord(value.metadata)) return false
  const { name, resourceVersion } = value.metadata
  return typeof name === 'string' && typeof resourceVersion === 'string'
}

/** @throws Error if the response is not an object */
export function parseObject(value: unknown): KubeObject {
  if (isKubeObject(value)) return value
  throw new Error('kube-apiserver returned a response that is not an object')
}

/** @throws Error if the response is not a list */
export function parseList(value: unknown): KubeList {
  if (isKubeList(value)) return value
  throw new Error('kube-apiserver returned a response that is not a list')
}

function isKubeList(value: unknown): value is KubeList {
  return (
    isRecord(value) &&
    isRecord(value.metadata) &&
    typeof value.metadata.resourceVersion === 'string' &&
    (value.items === null || (Array.isArray(value.items) && value.items.every(isKubeObject)))
  )
}
