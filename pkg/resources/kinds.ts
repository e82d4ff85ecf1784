import type { Kind } from './kind.ts'
import { nodes } from './nodes.ts'

/**
 * The table of kinds. The aggregated API, the lists under /kapis, discovery and OpenAPI are all made from it: a new kind
 * is one new row here.
 */
export const kinds: readonly Kind[] = [nodes]

/** The version of the resources group, here and on every path. */
export const resourcesVersion = 'v1alpha3'

export function resourcesGroup(groupDomain: string): string {
  return `resources.${groupDomain}`
}
