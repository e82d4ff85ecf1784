/** One resource, as discovery and OpenAPI tell of it. A row of the table of kinds is one. */
export type ServedResource = {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  /** Reading alone, unless it says otherwise. */
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** A group and version that is served, with its resources. */
export type ServedGroup = {
  readonly group: string
  readonly version: string
  readonly resources: readonly ServedResource[]
}

export function verbsOf(resource: ServedResource): readonly string[] {
  return resource.verbs ?? ['get', 'list', 'watch']
}

export function groupVersionOf({ group, version }: ServedGroup): string {
  return `${group}/${version}`
}
