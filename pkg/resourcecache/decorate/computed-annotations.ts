import type { SharedWatchOptions } from '../informer/shared-watch.ts'
import { decorateNode } from '../kinds/nodes.ts'
import { decorateClaim, decorateClass } from '../kinds/storage.ts'
import type { CachedObject } from '../store/cached-object.ts'
import type { Decorate } from '../store/store.ts'
import type { WatchChange } from '../store/watch-window.ts'
import { createClassUsage } from './class-usage.ts'
import { createPodRequestIndex } from './pod-request-totals.ts'
import { createPvcUsageIndex } from './pvc-usage-index.ts'

export type ComputedAnnotations = {
  /** The computed annotations for objects of `<group>/<plural>`; undefined for most. */
  readonly of: (kind: string) => Decorate | undefined
  /** Must receive the objects and events of all pods. */
  readonly pods: SharedWatchOptions['handler']
  /** The cached kind from which the annotations of `<group>/<plural>` are computed. */
  readonly inputOf: (kind: string) => AnnotationInput | undefined
}

/** Receives the objects and changes of a kind from which annotations of another are computed. */
export type AnnotationInput = {
  readonly plural: string
  readonly replace: (entries: Iterable<CachedObject>) => void
  readonly apply: (changes: readonly WatchChange[], entries: () => Iterable<CachedObject>) => void
}

const nodes = '/nodes'
const claims = '/persistentvolumeclaims'
const storageClasses = 'storage.k8s.io/storageclasses'
const snapshotClasses = 'snapshot.storage.k8s.io/volumesnapshotclasses'

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
  const mounts = createPvcUsageIndex(keys => changed(claims, keys))
  // The CSI drivers for which a VolumeSnapshotClass exists.
  let drivers: ReadonlySet<string> = new Set()
  function readDrivers(classes: Iterable<CachedObject>): void {
    drivers = new Set([...classes].map(({ fields }) => fields.values.driver ?? ''))
    changed(claims, 'all')
  }
  const claimed = createClassUsage('storageClassName', names => changed(storageClasses, names))
  const snapped = createClassUsage('volumeSnapshotClassName', names => changed(snapshotClasses, names))
  const inputs = new Map<string, AnnotationInput>([
    [
      claims,
      {
        plural: 'volumesnapshotclasses',
        replace: readDrivers,
        apply: (_changes, classes) => readDrivers(classes()),
      },
    ],
    [storageClasses, { plural: 'persistentvolumeclaims', ...claimed }],
    [snapshotClasses, { plural: 'volumesnapshots', ...snapped }],
  ])
  const decorate = new Map<string, Decorate>([
    [nodes, entry => decorateNode(entry.fields, usage.of(entry.name), groupDomain)],
    [
      claims,
      entry => decorateClaim(entry.fields, { isMounted: mounts.isMounted(entry.key), drivers, groupDomain }),
    ],
    [storageClasses, entry => decorateClass('pvc-count', claimed.of(entry.name), groupDomain)],
    [snapshotClasses, entry => decorateClass('snapshot-count', snapped.of(entry.name), groupDomain)],
  ])
  return {
    of: kind => decorate.get(kind),
    inputOf: kind => inputs.get(kind),
    pods: {
      replace(pods) {
        usage.handler.replace(pods)
        mounts.handler.replace(pods)
      },
      apply(events) {
        usage.handler.apply(events)
        mounts.handler.apply(events)
      },
    },
  }
}
