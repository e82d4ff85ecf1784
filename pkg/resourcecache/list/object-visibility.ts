import { expired, Status } from '../../apierrors/status.ts'
import { waitForLatest } from '../informer/wait-for-resource-version.ts'
import type { CachedObject } from '../store/cached-object.ts'
import type { ObjectStore } from '../store/store.ts'

/** The objects of a kind that one caller may see. */
export type ObjectVisibility = {
  /** Identifies the set of objects, which is equal for equal keys except in watches. */
  readonly key: string
  readonly has: (entry: CachedObject) => boolean
  /** Namespaces that contain all visible objects; undefined if they are not known. */
  readonly namespaces?: ReadonlySet<string>
  /** Set if all objects are visible, until a change invalidates this result. */
  readonly isAll?: true
  /**
   * Set if the result of `has` never changes: callers with the same key share views and pages, and
   * a change of permissions ends a watch.
   */
  readonly fixed?: {
    /** Returns the version since which this caller has seen these objects; or undefined. */
    readonly versionShown: () => number | undefined
    readonly show: (version: number) => void
    /** The error for a watch of a list of objects that the caller may not watch. */
    readonly unfollowed?: Status
  }
  /** Set if the permissions may change while a request waits; undefined if `has` never changes. */
  readonly permissions?: {
    /** Returns whether the result of `has` still corresponds to the permissions. */
    readonly isCurrent: () => boolean
    /** Returns whether the caller may still see all these objects, and possibly more. */
    readonly mayStillSee: () => boolean
    /** Returns the objects that the caller may see now. @throws Status 403, 503 */
    readonly renew: () => Promise<ObjectVisibility | undefined>
  }
  /** Registers a callback for changes of `has`. @returns its removal */
  readonly onChange: (listener: () => void) => () => void
}

/** The error message for a list or watch that continues one with other visible objects. */
export const visibilityChanged = 'the namespaces you may see have changed'

/** The error if the visible objects have changed since the request was authorized. */
class VisibilityChanged extends Status {
  constructor() {
    const { code, reason, message } = expired(visibilityChanged)
    super(code, reason, message)
  }
}

// Maximum number of repetitions. Permissions rarely change faster than a list is built.
const maxRenewals = 3

/**
 * Reads objects with the permissions at the time of the response. `read` is repeated if
 * assertCurrent finds that permissions have changed while it waited.
 */
export async function readCurrent(
  visible: ObjectVisibility | undefined,
  read: (visible: ObjectVisibility | undefined) => Promise<void> | void,
): Promise<void> {
  let current = visible
  for (let renewals = 0; ; renewals++) {
    try {
      return await read(current)
    } catch (error) {
      if (
        !(error instanceof VisibilityChanged) ||
        current?.permissions === undefined ||
        renewals === maxRenewals
      )
        throw error
      current = await current.permissions.renew()
    }
  }
}

/** The field of a result that shows whether the caller may still see it. */
export type Visibility = { readonly permissions?: { readonly mayStillSee: () => boolean } }

/** Reports whether the visible objects still correspond to the permissions of the caller. */
export function isCurrent(visible: ObjectVisibility | undefined): boolean {
  return visible?.permissions?.isCurrent() !== false
}

/** Call after the last wait before objects are sent. @throws Status 410 for readCurrent */
export function assertCurrent(visible: ObjectVisibility | undefined): void {
  if (!isCurrent(visible)) throw new VisibilityChanged()
}

/** Reports whether the caller may still see all these objects. */
export function mayStillSee(visible: Visibility | undefined): boolean {
  return visible?.permissions?.mayStillSee() !== false
}

/** Forwards chunks of a response, and aborts it when the caller may no longer see all its objects. */
export function* whileVisible<T>(
  visible: Visibility | undefined,
  chunks: Iterable<T>,
  destroy: () => void,
): Generator<T> {
  for (const chunk of chunks) {
    if (!mayStillSee(visible)) return destroy()
    yield chunk
  }
}

/**
 * Must be called before the state is read. Ensures that versions before a change of visibility are
 * lower than those after it, so that no watch continues from before the change.
 *
 * @throws Status 503, 504
 */
export async function recordVisibleFrom(
  store: ObjectStore,
  visible: ObjectVisibility | undefined,
): Promise<void> {
  if (visible?.fixed === undefined || visible.fixed.versionShown() !== undefined) return
  await waitForLatest(store)
  visible.fixed.show(store.version)
}
