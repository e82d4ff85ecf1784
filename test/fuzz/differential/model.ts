import { groupDomain } from '../../e2e/http.ts'
import type { Pair } from './request-sender.ts'

export const resourcesGroup = `resources.${groupDomain}`
export const iamGroup = `iam.${groupDomain}`

/**
 * An object that only some callers may read. Its marker in a response proves that the object was
 * exposed.
 */
export type MarkedObject = {
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly marker: string
}

/** User name and groups of a caller at kube-apiserver. */
export type User = { readonly user: string; readonly groups: readonly string[] }

/** A caller with permissions for single objects or namespaces. */
export type Caller = {
  readonly what: string
  /** Headers that contain the credential. */
  readonly credential: readonly string[]
  readonly pair?: Pair
  /** undefined for a caller without a valid credential. */
  readonly user?: User
  /** Other users whom the caller may impersonate. */
  readonly alsoAs?: readonly User[]
  /** Names that the caller may see without a permission on the object. */
  readonly sees?: readonly string[]
  /** Names of objects for which the caller has permissions; these are requested more often. */
  readonly near?: readonly string[]
  /**
   * The expected result of a write: rejected, or a dry run. `none`: no writes are sent for this
   * caller, who has permissions.
   */
  readonly writes: 'refused' | 'dry run' | 'none'
}

export type Scene = {
  readonly namespaces: { readonly a: string; readonly b: string }
  readonly objects: readonly MarkedObject[]
  readonly names: {
    readonly mine: string
    readonly map: string
    readonly pod: string
    readonly node: string
  }
  /** Name of a User of Kapis. */
  readonly user: string
  readonly deputies: { readonly account: string; readonly user: string }
  /** Subjects of client certificates with permissions. */
  readonly subjects: { readonly nonAscii: string; readonly all: string }
  readonly callers: readonly Caller[]
  readonly remove: () => Promise<void>
}
