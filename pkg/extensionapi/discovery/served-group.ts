import type { Schemas } from '../openapi/schema/schema.ts'

/** A resource in discovery and OpenAPI. Rows of the table of kinds have this type too. */
export type ServedResource = {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  /** Supported verbs; by default only those that read. */
  readonly verbs?: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** A group and version that is served, with its resources. */
export type ServedGroup = {
  readonly group: string
  readonly version: string
  readonly resources: readonly ServedResource[]
  /** Schemas of kinds that kube-apiserver does not describe, by short name. */
  readonly schemas?: Schemas
}

export function verbsOf(resource: ServedResource): readonly string[] {
  return resource.verbs ?? ['get', 'list', 'watch']
}

/** Returns whether a resource can be listed: kinds that are created but not stored cannot. */
export function isListed(resource: ServedResource): boolean {
  return verbsOf(resource).includes('list')
}

export function groupVersionOf({ group, version }: ServedGroup): string {
  return `${group}/${version}`
}
