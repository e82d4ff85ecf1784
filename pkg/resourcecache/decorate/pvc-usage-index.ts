import type { KubeObject } from '../../kubeclient/object/object.ts'
import type { SharedWatchOptions } from '../informer/shared-watch.ts'
import { claimsOf } from '../kinds/pods.ts'
import { toKey } from '../store/cached-object.ts'

export type PvcUsageIndex = {
  /** Returns whether a pod that has not terminated uses the claim `<namespace>/<name>`. */
  readonly isMounted: (claim: string) => boolean
  readonly handler: SharedWatchOptions['handler']
}

/** Tracks which volume claims pods use; `changed` gets those whose state has changed. */
export function createPvcUsageIndex(changed: (claims: ReadonlySet<string>) => void): PvcUsageIndex {
  const claimsOfPod = new Map<string, readonly string[]>()
  const users = new Map<string, number>()

  function set(pod: KubeObject, next: readonly string[], touched: Set<string>): void {
    const key = toKey(pod.metadata.namespace ?? '', pod.metadata.name)
    const last = claimsOfPod.get(key) ?? []
    // Most updates of pods change only their status.
    if (last.join() === next.join()) return
    for (const claim of last) count(claim, -1, touched)
    for (const claim of next) count(claim, 1, touched)
    if (next.length > 0) claimsOfPod.set(key, next)
    else claimsOfPod.delete(key)
  }

  function count(claim: string, step: 1 | -1, touched: Set<string>): void {
    const was = users.get(claim) ?? 0
    const is = was + step
    if (is > 0) users.set(claim, is)
    else users.delete(claim)
    if (was > 0 !== is > 0) touched.add(claim)
  }

  return {
    isMounted: claim => users.has(claim),
    handler: {
      replace(pods) {
        const touched = new Set(users.keys())
        claimsOfPod.clear()
        users.clear()
        for (const pod of pods) set(pod, mountedBy(pod), touched)
        changed(touched)
      },
      apply(events) {
        const touched = new Set<string>()
        for (const { type, object } of events) {
          if (type !== 'BOOKMARK') set(object, type === 'DELETED' ? [] : mountedBy(object), touched)
        }
        if (touched.size > 0) changed(touched)
      },
    },
  }
}

function mountedBy(pod: KubeObject): readonly string[] {
  const namespace = pod.metadata.namespace ?? ''
  return [...new Set(claimsOf(pod))].map(claim => toKey(namespace, claim))
}
