import { groupDomain } from '../../e2e/http.ts'
import type { Pair } from './ask.ts'

export const resourcesGroup = `resources.${groupDomain}`
export const iamGroup = `iam.${groupDomain}`

/**
 * An object that only some callers may see. Its marker in a response proves that the object was
 * exposed.
 */
export type Marked = {
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly marker: string
}

/** The user name of a caller at kube-apiserver. */
export type User = { readonly user: string; readonly groups: readonly string[] }

/** A caller, with rights that name single objects, or namespaces. */
export type Caller = {
  readonly what: string
  /** Header lines of the credential. */
  readonly credential: readonly string[]
  readonly pair?: Pair
  /** Undefined for one without a valid credential. */
  readonly user?: User
  /** Other users whom the caller may impersonate. */
  readonly alsoAs?: readonly User[]
  /** Names that the caller sees without a permission on the object. */
  readonly sees?: readonly string[]
  /** Names of objects that the caller has permissions for, which are requested more often. */
  readonly near?: readonly string[]
  /**
   * The result of a write: rejected, or a dry run; no write is tried where the caller has
   * permission.
   */
  readonly writes: 'refused' | 'dry run' | 'none'
}

export type Scene = {
  readonly namespaces: { readonly a: string; readonly b: string }
  readonly objects: readonly Marked[]
  readonly names: {
    readonly mine: string
    readonly map: string
    readonly pod: string
    readonly node: string
  }
  /** Of Kapis. */
  readonly user: string
  readonly deputies: { readonly account: string; readonly user: string }
  /** Subjects of certificates with rights. */
  readonly subjects: { readonly nonAscii: string; readonly all: string }
  readonly callers: readonly Caller[]
  readonly remove: () => Promise<void>
}
