/**
 * Computes the expected result of a platform list from the objects as kubectl prints them, by a
 * simple implementation of the contract. It intentionally shares no code with the server.
 */

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind, as kubectl prints them
export type PrintedObject = any

export type Expected = { readonly names: readonly string[]; readonly total: number }

type Test = (object: PrintedObject, value: string, world: OracleCluster) => boolean

export type OracleCluster = { readonly groupDomain: string; readonly services: readonly PrintedObject[] }

const condition = (object: PrintedObject, type: string): string =>
  (object.status?.conditions ?? []).find((c: PrintedObject) => c.type === type)?.status ?? ''

const ready = (want: number, have: number) =>
  want === 0 && have === 0 ? 'stopped' : want === have ? 'running' : 'updating'

/** Returns the status of an object that the platform API must return, by plural. */
export const statusOf: Readonly<Record<string, (object: PrintedObject) => string>> = {
  nodes(node) {
    if (node.spec.unschedulable) return 'unschedulable'
    const pressed = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'].some(
      type => !['', 'False'].includes(condition(node, type)),
    )
    return pressed || condition(node, 'Ready') !== 'True' ? 'warning' : 'running'
  },
  deployments: d => ready(d.status?.replicas ?? 0, d.status?.readyReplicas ?? 0),
  statefulsets: s => ready(s.spec.replicas ?? 0, s.status?.readyReplicas ?? 0),
  daemonsets: d => ready(d.status?.desiredNumberScheduled ?? 0, d.status?.numberReady ?? 0),
  jobs(job) {
    if (condition(job, 'Failed') === 'True') return 'failed'
    return condition(job, 'Complete') === 'True' ? 'completed' : 'running'
  },
  cronjobs: c => (c.spec.suspend ? 'paused' : 'running'),
  volumesnapshots: s =>
    s.metadata.deletionTimestamp ? 'deleting' : s.status?.readyToUse ? 'ready' : 'creating',
  namespaces: n => n.status.phase,
}

const named = (object: PrintedObject, text: string) => object.metadata.name.includes(text)

const common: Readonly<Record<string, Test>> = {
  name: named,
  names: (object, value) => value.split(',').includes(object.metadata.name),
  uid: (object, value) => object.metadata.uid === value,
  namespace: (object, value) => object.metadata.namespace === value,
  alias: (object, value, { groupDomain }) =>
    (object.metadata.annotations?.[`${groupDomain}/alias-name`] ?? '').includes(value),
  ownerReference: (object, value) =>
    (object.metadata.ownerReferences ?? []).some((owner: PrintedObject) => owner.uid === value),
  ownerKind: (object, value) =>
    (object.metadata.ownerReferences ?? []).some((owner: PrintedObject) => owner.kind === value),
  labelSelector: (object, value) => has(object.metadata.labels, value),
  label: (object, value) => has(object.metadata.labels, value),
  annotation: (object, value) => has(object.metadata.annotations, value),
  fieldSelector(object, value) {
    const [path = '', expected] = value.split('=')
    let found = object
    for (const step of path.split('.')) found = found?.[step]
    return found !== undefined && String(found) === expected
  },
  q(object, value) {
    const { 'kubectl.kubernetes.io/last-applied-configuration': _, ...annotations } =
      object.metadata.annotations ?? {}
    const text = JSON.stringify([object.metadata.name, object.metadata.labels, annotations])
    return text.toLowerCase().includes(value.toLowerCase())
  },
}

const own: Readonly<Record<string, Readonly<Record<string, Test>>>> = {
  pods: {
    nodeName: (pod, value) => pod.spec.nodeName === value,
    phase: (pod, value) => pod.status.phase === value,
    pvcName: (pod, value) =>
      (pod.spec.volumes ?? []).some((v: PrintedObject) => v.persistentVolumeClaim?.claimName === value),
    serviceName: (pod, value, { services }) =>
      services.some(
        s =>
          s.metadata.name === value &&
          s.metadata.namespace === pod.metadata.namespace &&
          s.spec.selector !== undefined &&
          Object.entries(s.spec.selector).every(([key, label]) => pod.metadata.labels?.[key] === label),
      ),
    // The pods of the sample are only running, pending or terminated.
    status: (pod, value) => {
      const runs = pod.status.phase === 'Running' && !pod.metadata.deletionTimestamp
      const ended: PrintedObject = { Succeeded: 'Completed', Failed: 'Error' }
      return value === (runs ? 'Running' : (ended[pod.status.phase] ?? 'Waiting'))
    },
  },
  persistentvolumes: volume(),
  persistentvolumeclaims: volume(),
  volumesnapshots: {
    volumeSnapshotClassName: (s, value) => s.spec.volumeSnapshotClassName === value,
    persistentVolumeClaimName: (s, value) => s.spec.source.persistentVolumeClaimName === value,
  },
  volumesnapshotcontents: {
    volumeSnapshotClassName: (s, value) => s.spec.volumeSnapshotClassName === value,
    volumeSnapshotName: (s, value) => s.spec.volumeSnapshotRef.name === value,
    volumeSnapshotNamespace: (s, value) => s.spec.volumeSnapshotRef.namespace === value,
    readyToUse: (s, value) => String(s.status?.readyToUse ?? false) === value,
  },
  customresourcedefinitions: {
    name: (crd, value) => named(crd, value) || crd.spec.names.kind.includes(value),
  },
  users: {
    status: (user, value) => (user.status?.state ?? 'Active').toLowerCase() === value,
    email: (user, value) => user.spec.email === value,
    ingroup: (user, value) => (user.spec.groups ?? []).includes(value),
    notingroup: (user, value) => !(user.spec.groups ?? []).includes(value),
  },
  loginrecords: { type: (record, value) => record.spec.type === value },
  workspaces: { manager: (workspace, value) => workspace.spec?.manager === value },
  workspaceroles: {
    workspace: (role, value, { groupDomain }) => role.metadata.labels?.[`${groupDomain}/workspace`] === value,
  },
  workspacerolebindings: { rolename: (binding, value) => binding.roleRef?.name === value },
  groupbindings: {
    user: (binding, value, { groupDomain }) =>
      (binding.users ?? []).includes(value) ||
      binding.metadata.labels?.[`iam.${groupDomain}/user-ref`] === value,
  },
  widgets: { status: (widget, value) => widget.status.phase.toLowerCase() === value.toLowerCase() },
}

function volume(): Readonly<Record<string, Test>> {
  return {
    status: (v, value) => v.status.phase.toLowerCase() === value.toLowerCase(),
    storageClassName: (v, value) => v.spec.storageClassName === value,
  }
}

/** Matches `key=value`, `key` and `!key`, joined by commas. */
function has(map: Readonly<Record<string, string>> = {}, selector: string): boolean {
  return selector.split(',').every(term => {
    const [key = '', value] = term.split('=')
    if (key.startsWith('!')) return !(key.slice(1) in map)
    return value === undefined ? key in map : map[key] === value
  })
}

/** Returns the expected response to a list with this query over these objects. */
export function expectedOf(
  plural: string,
  objects: readonly PrintedObject[],
  query: URLSearchParams,
  world: OracleCluster,
): Expected {
  const {
    page = '1',
    limit = '-1',
    sortBy = 'createTime',
    ascending = 'false',
    ...filters
  } = Object.fromEntries(query)
  const kept = objects.filter(object =>
    Object.entries(filters).every(([key, value]) => {
      const test = own[plural]?.[key] ?? common[key]
      if (test) return test(object, value, world)
      if (key === 'status' && statusOf[plural]) return statusOf[plural](object) === value
      throw new Error(`the oracle does not support ${key} of ${plural}`)
    }),
  )
  const status = statusOf[plural]
  const identity = (object: PrintedObject) => [object.metadata.namespace ?? '', object.metadata.name]
  const keyOf: Readonly<Record<string, (object: PrintedObject) => readonly unknown[]>> = {
    name: object => [object.metadata.name],
    createTime: object => [object.metadata.creationTimestamp],
    creationTimestamp: object => [object.metadata.creationTimestamp],
    updateTime: object => [updatedOf(plural, object)],
    lastUpdateTimestamp: object => [updatedOf(plural, object)],
    ...(status ? { status: (object: PrintedObject) => [status(object)] } : {}),
    '.spec.rank': object => [object.spec?.rank ?? -1],
    '.spec.size': object => [Number.parseInt(object.spec?.size ?? '-1', 10)],
  }
  const key = keyOf[sortBy]
  if (key === undefined) throw new Error(`the oracle does not support sortBy=${sortBy}`)
  const sorted = kept.toSorted((a, b) => compare([...key(a), ...identity(a)], [...key(b), ...identity(b)]))
  if (ascending !== 'true') sorted.reverse()
  const size = Number(limit)
  const from = (Number(page) - 1) * size
  const shown = size < 0 ? sorted : sorted.slice(from, from + size)
  return { names: shown.map(object => identity(object).join('/')), total: kept.length }
}

/**
 * Returns the time of the last change of an object: that of the object itself, or of its last
 * writer.
 */
function updatedOf(plural: string, { metadata, status, ...object }: PrintedObject): string {
  const since = (times: readonly string[]) => times.toSorted().at(-1) ?? metadata.creationTimestamp
  const conditions: readonly PrintedObject[] = status?.conditions ?? []
  if (plural === 'deployments') return since(conditions.map(({ lastUpdateTime }) => lastUpdateTime))
  if (plural === 'jobs') return since(conditions.map(({ lastTransitionTime }) => lastTransitionTime))
  if (plural === 'events')
    return (
      object.lastTimestamp ||
      object.series?.lastObservedTime ||
      object.eventTime ||
      metadata.creationTimestamp
    )
  const written = (metadata.managedFields ?? []).map(({ time }: PrintedObject) => time ?? '')
  return since([metadata.creationTimestamp, ...written])
}

function compare(a: readonly unknown[], b: readonly unknown[]): number {
  for (const [i, left] of a.entries()) {
    const right = b[i]
    if (left === right) continue
    if (typeof left === 'number' && typeof right === 'number') return left - right
    return String(left) < String(right) ? -1 : 1
  }
  return 0
}
