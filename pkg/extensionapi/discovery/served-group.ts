import type { Schemas } from '../openapi/schema/schema.ts'

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
  /** Schemas of kinds that no other server describes, and of what they lead to, by short names. */
  readonly schemas?: Schemas
}

export function verbsOf(resource: ServedResource): readonly string[] {
  return resource.verbs ?? ['get', 'list', 'watch']
}

/** Whether there is a list of them: not of what is created and never stored. */
export function isListed(resource: ServedResource): boolean {
  return verbsOf(resource).includes('list')
}

export function groupVersionOf({ group, version }: ServedGroup): string {
  return `${group}/${version}`
}
