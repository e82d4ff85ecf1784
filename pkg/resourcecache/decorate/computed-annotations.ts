import type { KindWatchOptions } from '../informer/kind-watch.ts'
import { decorateNamespace } from '../kinds/namespaces.ts'
import { decorateNode } from '../kinds/nodes.ts'
import { decorateClaim } from '../kinds/storage.ts'
import type { Decorate } from '../store/store.ts'
import { createPodRequestIndex } from './pod-request-totals.ts'
import { createPvcUsageIndex } from './pvc-usage-index.ts'

export type ComputedAnnotations = {
  /** The computed annotations for objects of `<group>/<plural>`; undefined for most. */
  readonly of: (kind: string) => Decorate | undefined
  /** Must receive the objects and events of all pods. */
  readonly pods: KindWatchOptions['handler']
  /** Must be called with the CSI drivers for which a VolumeSnapshotClass exists. */
  readonly setSnapshotDrivers: (drivers: ReadonlySet<string>) => void
}

const nodes = '/nodes'
const namespaces = '/namespaces'
const claims = '/persistentvolumeclaims'

/**
 * Computes annotations from other objects. One watch of all pods provides the input, of which only
 * a few values per pod are stored.
 *
 * @param changed called with the objects of a kind to annotate again; 'all' for all of them
 */
export function createComputedAnnotations(
  groupDomain: string,
  changed: (kind: string, keys: Iterable<string> | 'all') => void,
): ComputedAnnotations {
  const usage = createPodRequestIndex(keys => changed(nodes, keys))
  const used = createPodRequestIndex(
    keys => changed(namespaces, keys),
    pod => pod.metadata.namespace ?? '',
  )
  const mounts = createPvcUsageIndex(keys => changed(claims, keys))
  let drivers: ReadonlySet<string> = new Set()
  const decorate = new Map<string, Decorate>([
    [nodes, entry => decorateNode(entry.fields, usage.of(entry.name), groupDomain)],
    [namespaces, entry => decorateNamespace(used.of(entry.name))],
    [
      claims,
      entry => decorateClaim(entry.fields, { isMounted: mounts.isMounted(entry.key), drivers, groupDomain }),
    ],
  ])
  return {
    of: kind => decorate.get(kind),
    pods: {
      replace(pods) {
        usage.handler.replace(pods)
        used.handler.replace(pods)
        mounts.handler.replace(pods)
      },
      apply(events) {
        usage.handler.apply(events)
        used.handler.apply(events)
        mounts.handler.apply(events)
      },
    },
    setSnapshotDrivers(next) {
      drivers = next
      changed(claims, 'all')
    },
  }
}
