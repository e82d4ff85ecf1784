import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import { type Cell, column, type Decoration, type IndexedFields, type KindOptions } from '../kind.ts'
import { caseless, exact, oneOf, yesOrNo } from '../list/filters.ts'

const provisionerAnnotations = [
  'volume.kubernetes.io/storage-provisioner',
  'volume.beta.kubernetes.io/storage-provisioner',
]

export const volumes: KindOptions = {
  toFields: toVolumeFacts,
  filters: { status: caseless('phase'), storageClassName: exact('storageClassName') },
}

export const claims: KindOptions = {
  ...volumes,
  columns: [
    column('Name', 0, 'Name of the claim, unique in its namespace.', 'name'),
    column('Status', 0, 'Phase of the claim: Pending, Bound or Lost.'),
    column('Volume', 0, 'Volume that is bound to the claim.'),
    column('Capacity', 0, 'Size of the bound volume.'),
    column('Access Modes', 0, 'How the volume can be mounted.'),
    column('StorageClass', 0, 'Storage class that the claim requests.'),
    column('VolumeAttributesClass', 0, 'Class of attributes that the volume has.'),
    column('Age', 0, 'Time since the claim was created.'),
    column('VolumeMode', 1, 'Filesystem or Block.'),
    column('In-Use', 1, 'Whether a pod mounts the claim.'),
    column('Snapshots', 1, 'Whether a volume snapshot of the claim can be taken.'),
  ],
  toFields: object => ({ ...toVolumeFacts(object), cells: toClaimCells(object) }),
}

// The abbreviations of kubectl.
const accessModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

function toClaimCells({ metadata, ...object }: KubeObject): readonly Cell[] {
  const spec = fieldsOf(object.spec)
  const status = fieldsOf(object.status)
  const volume = textOf(spec.volumeName)
  const isGoing = metadata.deletionTimestamp !== undefined
  const modes = itemsOf(status.accessModes).map(mode => accessModes[textOf(mode)] ?? textOf(mode))
  return [
    metadata.name,
    isGoing ? 'Terminating' : textOf(status.phase),
    volume,
    volume === '' ? '' : textOf(fieldsOf(status.capacity).storage),
    volume === '' ? '' : modes.join(','),
    textOf(spec.storageClassName),
    textOf(status.currentVolumeAttributesClassName) || '<unset>',
    { since: metadata.creationTimestamp },
    textOf(spec.volumeMode) || '<unset>',
  ]
}

function toVolumeFacts(object: KubeObject): IndexedFields {
  const phase = textOf(fieldsOf(object.status).phase)
  const annotations = object.metadata.annotations ?? {}
  const provisioner = provisionerAnnotations.map(key => annotations[key]).find(value => value !== undefined)
  return {
    status: phase,
    cells: [],
    values: {
      phase,
      storageClassName: textOf(fieldsOf(object.spec).storageClassName),
      provisioner: provisioner ?? '',
    },
  }
}

/** Returns the annotations whether a claim is mounted, and can have a snapshot. */
export function decorateClaim(
  fields: IndexedFields,
  known: { readonly isMounted: boolean; readonly drivers: ReadonlySet<string>; readonly groupDomain: string },
): Decoration {
  const { isMounted, drivers, groupDomain } = known
  const allowsSnapshots = drivers.has(fields.values.provisioner ?? '')
  return {
    annotations: {
      [`${groupDomain}/allow-snapshot`]: String(allowsSnapshots),
      [`${groupDomain}/in-use`]: String(isMounted),
    },
    cells: [String(isMounted), String(allowsSnapshots)],
  }
}

/** Returns the annotation with the number of objects that name a class. */
export function decorateClass(name: string, count: number, groupDomain: string): Decoration {
  return { annotations: { [`${groupDomain}/${name}`]: String(count) }, cells: [] }
}

export const snapshots: KindOptions = {
  toFields(object) {
    const spec = fieldsOf(object.spec)
    const isReady = fieldsOf(object.status).readyToUse === true
    const isGoing = object.metadata.deletionTimestamp !== undefined
    return {
      status: isGoing ? 'deleting' : isReady ? 'ready' : 'creating',
      cells: [],
      values: {
        volumeSnapshotClassName: textOf(spec.volumeSnapshotClassName),
        persistentVolumeClaimName: textOf(fieldsOf(spec.source).persistentVolumeClaimName),
      },
    }
  },
  filters: {
    status: oneOf('status', ['creating', 'ready', 'deleting']),
    volumeSnapshotClassName: exact('volumeSnapshotClassName'),
    persistentVolumeClaimName: exact('persistentVolumeClaimName'),
  },
}

export const snapshotContents: KindOptions = {
  toFields(object) {
    const spec = fieldsOf(object.spec)
    const snapshot = fieldsOf(spec.volumeSnapshotRef)
    const isReady = fieldsOf(object.status).readyToUse === true
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

export const snapshotClasses: KindOptions = {
  toFields: object => ({ status: '', cells: [], values: { driver: textOf(object.driver) } }),
  filters: {},
}
