import { expired, Status } from '../../apierrors/status.ts'
import { waitForLatest } from '../informer/wait-for-resource-version.ts'
import type { Entry } from '../store/cached-object.ts'
import type { ObjectStore } from '../store/store.ts'

/** The objects of a kind that one caller may see. */
export type Visible = {
  /** The same key means the same objects, unless one is being watched. */
  readonly key: string
  readonly has: (entry: Entry) => boolean
  /** No object outside of these namespaces is visible; undefined if that is not known. */
  readonly namespaces?: ReadonlySet<string>
  /** Everything is visible, until a change; then this is outdated. */
  readonly isAll?: true
  /**
   * The result of `has` is fixed: callers with the same key share what is made for them, and a
   * change ends a watch.
   */
  readonly fixed?: {
    /** The version since which this caller has been shown this; undefined for one who was not. */
    readonly versionShown: () => number | undefined
    readonly show: (version: number) => void
    /** The refusal of a watch that would go on from a list which shows more than it can follow. */
    readonly unfollowed?: Status
  }
  /** For one whose rights may change while a request waits; undefined if `has` never changes. */
  readonly rights?: {
    /** Whether the caller may still see what `has` says. */
    readonly isCurrent: () => boolean
    /**
     * What the caller may see by now.
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

/** The fault of a list or a watch that goes on from one which showed other objects. */
export const changedSight = 'the namespaces you may see have changed'

/** What the caller may see has changed since the request was authorized. */
class SightChanged extends Status {
  constructor() {
    const { code, reason, message } = expired(changedSight)
    super(code, reason, message)
  }
}

// Rights that change faster than a list is made are rare; the client may list again.
const maxRenewals = 3

/**
 * Reads what the caller may see at the moment at which it is shown: `read` begins again when
 * assertCurrent has found that the rights have changed while it waited.
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

export function isCurrent(visible: Visible | undefined): boolean {
  return visible?.rights?.isCurrent() !== false
}

/**
 * To be called after the last wait before something is shown.
 *
 * @throws Status 410, for readCurrent
 */
export function assertCurrent(visible: Visible | undefined): void {
  if (!isCurrent(visible)) throw new SightChanged()
}

/** Chunks of a response that ends, incomplete, once its caller may no longer see all of it. */
export function* whileCurrent<T>(
  visible: Visible | undefined,
  chunks: Iterable<T>,
  destroy: () => void,
): Generator<T> {
  for (const chunk of chunks) {
    if (!isCurrent(visible)) return destroy()
    yield chunk
  }
}

/**
 * To be called before the state is shown. Versions from before a change of what is visible are lower
 * than those after it, so that no watch goes on from them.
 *
 * @throws Status 503, 504
 */
export async function beginSight(store: ObjectStore, visible: Visible | undefined): Promise<void> {
  if (visible?.fixed === undefined || visible.fixed.versionShown() !== undefined) return
  await waitForLatest(store)
  visible.fixed.show(store.version)
}
