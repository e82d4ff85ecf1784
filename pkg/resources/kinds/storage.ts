import { type KubeObject, membersOf, textOf } from '../../kube/object.ts'
import { caseless, exact, oneOf, yesOrNo } from '../filters.ts'
import type { Decoration, Facts, Traits } from '../kind.ts'

const provisionerAnnotations = [
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
]

export const volumes: Traits = {
  toFacts: toVolumeFacts,
  filters: { status: caseless('phase'), storageClassName: exact('storageClassName') },
}

export const claims: Traits = volumes

function toVolumeFacts(object: KubeObject): Facts {
  const phase = textOf(membersOf(object.status).phase)
  const annotations = object.metadata.annotations ?? {}
  const provisioner = provisionerAnnotations.map(key => annotations[key]).find(value => value !== undefined)
  return {
    status: phase,
    cells: [],
    values: {
      phase,
      storageClassName: textOf(membersOf(object.spec).storageClassName),
      provisioner: provisioner ?? '',
    },
  }
}

/** The two annotations that tell whether a claim is mounted, and whether a snapshot of it can be taken. */
export function decorateClaim(
  facts: Facts,
  known: { readonly isMounted: boolean; readonly drivers: ReadonlySet<string>; readonly groupDomain: string },
): Decoration {
  const { isMounted, drivers, groupDomain } = known
  return {
    annotations: {
      [`${groupDomain}/allow-snapshot`]: String(drivers.has(facts.values.provisioner ?? '')),
      [`${groupDomain}/in-use`]: String(isMounted),
    },
    cells: [],
  }
}

export const snapshots: Traits = {
  toFacts(object) {
    const spec = membersOf(object.spec)
    const isReady = membersOf(object.status).readyToUse === true
    const isGoing = object.metadata.deletionTimestamp !== undefined
    return {
      status: isGoing ? 'deleting' : isReady ? 'ready' : 'creating',
      cells: [],
      values: {
        volumeSnapshotClassName: textOf(spec.volumeSnapshotClassName),
        persistentVolumeClaimName: textOf(membersOf(spec.source).persistentVolumeClaimName),
      },
    }
  },
  filters: {
    status: oneOf('status', ['creating', 'ready', 'deleting']),
    volumeSnapshotClassName: exact('volumeSnapshotClassName'),
    persistentVolumeClaimName: exact('persistentVolumeClaimName'),
  },
}

export const snapshotContents: Traits = {
  toFacts(object) {
    const spec = membersOf(object.spec)
    const snapshot = membersOf(spec.volumeSnapshotRef)
    const isReady = membersOf(object.status).readyToUse === true
    return {
      status: isReady ? 'ready' : 'creating',
      cells: [],
      values: {
        volumeSnapshotClassName: textOf(spec.volumeSnapshotClassName),
        volumeSnapshotName: textOf(snapshot.name),
        volumeSnapshotNamespace: textOf(snapshot.namespace),
        readyToUse: String(isReady),
      },
    }
  },
  filters: {
    status: oneOf('status', ['creating', 'ready']),
    volumeSnapshotClassName: exact('volumeSnapshotClassName'),
    volumeSnapshotName: exact('volumeSnapshotName'),
    volumeSnapshotNamespace: exact('volumeSnapshotNamespace'),
    readyToUse: yesOrNo('readyToUse'),
  },
}

export const snapshotClasses: Traits = {
  toFacts: object => ({ status: '', cells: [], values: { driver: textOf(object.driver) } }),
  filters: {},
}
