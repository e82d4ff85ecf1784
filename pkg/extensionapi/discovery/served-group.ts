import type { Schemas } from '../openapi/schema/schema.ts'

/** One resource in discovery and OpenAPI. A row of the table of kinds is one. */
export type ServedResource = {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  /** Only read verbs by default. */
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** A group and version that is served, with its resources. */
export type ServedGroup = {
  readonly group: string
  readonly version: string
  readonly resources: readonly ServedResource[]
  /**
   * Schemas of kinds that no other server describes, with all referenced schemas, by short names.
   */
  readonly schemas?: Schemas
}

export function verbsOf(resource: ServedResource): readonly string[] {
  return resource.verbs ?? ['get', 'list', 'watch']
}

/** Whether it has a list: not for kinds that are created but not stored. */
export function isListed(resource: ServedResource): boolean {
  return verbsOf(resource).includes('list')
}

export function groupVersionOf({ group, version }: ServedGroup): string {
  return `${group}/${version}`
}
