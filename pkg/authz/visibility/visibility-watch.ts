import type { Visible } from '../../resourcecache/list/object-visibility.ts'
import type { ClusterVisibility } from './cluster-visibility.ts'

/** Whether a caller may see all objects, and notifications when that may have changed. */
export type All = { readonly is: () => Promise<boolean>; readonly onRound: ClusterVisibility['onRound'] }

/** If the check fails, the caller is treated as not having cluster-wide access. */
function isStill(all: All): Promise<boolean> {
  return all.is().catch(() => false)
}

/** All objects, for a watch that is notified when its caller may not see all any more. */
export function everything(all: All): Visible {
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

/** The visible objects, and all objects of the request while the caller may see all of them. */
export function untilAll(
  visible: Visible,
  all: All,
  first: { readonly isAll: boolean; readonly has: Visible['has'] },
): Visible {
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
