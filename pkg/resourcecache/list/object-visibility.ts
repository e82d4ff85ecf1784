import { expired, Status } from '../../apierrors/status.ts'
import { waitForLatest } from '../informer/wait-for-resource-version.ts'
import type { Entry } from '../store/cached-object.ts'
import type { ObjectStore } from '../store/store.ts'

/** The objects of a kind that one caller may see. */
export type Visible = {
  /** Results with the same key contain the same objects, except for watches. */
  readonly key: string
  readonly has: (entry: Entry) => boolean
  /** No object outside of these namespaces is visible; undefined if that is not known. */
  readonly namespaces?: ReadonlySet<string>
  /** Everything is visible, until a change makes this result outdated. */
  readonly isAll?: true
  /**
   * The result of `has` never changes: callers with the same key share views and pages, and a
   * change of permissions ends a watch.
   */
  readonly fixed?: {
    /**
     * The version since which this caller has been shown these objects; undefined if they have not
     * been.
     */
    readonly versionShown: () => number | undefined
    readonly show: (version: number) => void
    /**
     * The error for a watch that would continue a list with objects that the caller may not watch.
     */
    readonly unfollowed?: Status
  }
  /** Set if the permissions may change while a request waits; undefined if `has` never changes. */
  readonly rights?: {
    /** Whether the caller may still see what `has` says. */
    readonly isCurrent: () => boolean
    /**
     * Returns what the caller may see now.
     *
     * @throws Status 403, 503
     */
    readonly renew: () => Promise<Visible | undefined>
  }
  /**
   * Calls back when the result of `has` may have changed, until the returned function is called.
   */
  readonly onChange: (listener: () => void) => () => void
}

/** The error message for a list or watch that continues one which showed other objects. */
export const changedSight = 'the namespaces you may see have changed'

/** What the caller may see has changed since the request was authorized. */
class SightChanged extends Status {
  constructor() {
    const { code, reason, message } = expired(changedSight)
    super(code, reason, message)
  }
}

// Permissions rarely change faster than a list is built; the client can list again.
const maxRenewals = 3

/**
 * Reads objects with the permissions of the moment in which they are shown: `read` starts again if
 * assertCurrent finds that the permissions have changed while it waited.
 */
export async function readCurrent(
  visible: Visible | undefined,
  read: (visible: Visible | undefined) => Promise<void> | void,
): Promise<void> {
  let seen = visible
  for (let renewals = 0; ; renewals++) {
    try {
      return await read(seen)
    } catch (error) {
      if (!(error instanceof SightChanged) || seen?.rights === undefined || renewals === maxRenewals)
        throw error
      seen = await seen.rights.renew()
    }
  }
}

/** The part of a result that shows whether it is still current. */
export type Sight = { readonly rights?: { readonly isCurrent: () => boolean } }

export function isCurrent(visible: Sight | undefined): boolean {
  return visible?.rights?.isCurrent() !== false
}

/**
 * Must be called after the last wait before something is shown.
 *
 * @throws Status 410, for readCurrent
 */
export function assertCurrent(visible: Visible | undefined): void {
  if (!isCurrent(visible)) throw new SightChanged()
}

/** Forwards the chunks of a response, and aborts it once its caller may no longer see all of it. */
export function* whileCurrent<T>(
  visible: Sight | undefined,
  chunks: Iterable<T>,
  destroy: () => void,
): Generator<T> {
  for (const chunk of chunks) {
    if (!isCurrent(visible)) return destroy()
    yield chunk
  }
}

/**
 * Must be called before the state is shown. It ensures that versions from before a change of
 * visibility are lower than those after it, so that no watch continues from them.
 *
 * @throws Status 503, 504
 */
export async function beginSight(store: ObjectStore, visible: Visible | undefined): Promise<void> {
  if (visible?.fixed === undefined || visible.fixed.versionShown() !== undefined) return
  await waitForLatest(store)
  visible.fixed.show(store.version)
}
