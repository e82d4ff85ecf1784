import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import type { ClusterVisibility } from './cluster-visibility.ts'

/** Whether a caller may see all objects, with notifications of changes. */
export type ClusterAccess = {
  readonly is: () => Promise<boolean>
  readonly onRound: ClusterVisibility['onRound']
}

/** Reports whether the caller may still see all objects. A failed check counts as false. */
function isStill(all: ClusterAccess): Promise<boolean> {
  return all.is().catch(() => false)
}

/** Returns the visibility of all objects; watches learn when the caller loses that permission. */
export function everythingUntilRevoked(all: ClusterAccess): ObjectVisibility {
  return {
    key: '',
    isAll: true,
    has: () => true,
    onChange: listener =>
      all.onRound(async () => {
        if (!(await isStill(all))) listener()
      }),
  }
}

/** Returns the visibility of the `visible` objects, or for all while the caller may see all. */
export function untilAll(
  visible: ObjectVisibility,
  all: ClusterAccess,
  first: { readonly isAll: boolean; readonly has: ObjectVisibility['has'] },
): ObjectVisibility {
  let { isAll } = first
  return {
    key: visible.key,
    has: entry => (isAll && first.has(entry)) || visible.has(entry),
    onChange(listener) {
      let isStopped = false
      const stops = [
        visible.onChange(listener),
        all.onRound(async () => {
          const is = await isStill(all)
          if (is === isAll || isStopped) return
          isAll = is
          listener()
        }),
      ]
      return () => {
        isStopped = true
        for (const stop of stops) stop()
      }
    },
  }
}
