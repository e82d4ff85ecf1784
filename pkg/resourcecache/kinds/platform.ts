import { lastAppliedAnnotation } from '../../kubeclient/object/last-applied.ts'
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import type { KindOptions } from '../kind.ts'
import { anyOf, caseless, exact, joinValues, noneOf } from '../list/filters.ts'

/** The default of kinds: the status is the phase, the state or the Ready condition. */
export const plain: KindOptions = {
  toFields: object => ({ status: plainStatus(object), cells: [], values: {} }),
  filters: {},
}

export const events: KindOptions = {
  toFields(object) {
    const series = fieldsOf(object.series)
    const times = [
      object.lastTimestamp,
      series.lastObservedTime,
      object.eventTime,
      object.deprecatedLastTimestamp,
    ]
    return {
      status: textOf(object.type),
      cells: [],
      values: {},
      updated: times.map(textOf).find(time => time !== '') ?? object.metadata.creationTimestamp,
    }
  },
  filters: {},
}

/** Password hashes and their fingerprints are hidden: only password checks read them. */
export const users: KindOptions = {
  hidden: [
    ['spec', 'password'],
    ['spec', 'credential'],
    ['spec', 'credentialNamespace'],
    ['metadata', 'annotations', lastAppliedAnnotation],
  ],
  toFields(object) {
    const spec = fieldsOf(object.spec)
    // A user without a state is active.
    const state = textOf(fieldsOf(object.status).state) || 'Active'
    return {
      status: state,
      cells: [],
      values: {
        state,
        email: textOf(spec.email),
        groups: joinValues(itemsOf(spec.groups).map(textOf)),
      },
    }
  },
  filters: {
    status: caseless('state'),
    email: exact('email'),
    ingroup: anyOf('groups'),
    notingroup: noneOf('groups'),
  },
}

/** The filter by name also matches the kind, which users know better than the plural. */
export const customResourceDefinitions: KindOptions = {
  toFields: object => ({
    status: plainStatus(object),
    cells: [],
    values: { name: object.metadata.name, kind: textOf(fieldsOf(fieldsOf(object.spec).names).kind) },
  }),
  filters: {
    name: value => fields =>
      fields.values.name?.includes(value) || fields.values.kind?.includes(value) || false,
  },
}

/** Filters by one of several values of an object. */
export function byValues(
  read: (object: KubeObject) => Readonly<Record<string, string>>,
  names: readonly string[],
): KindOptions {
  return {
    toFields: object => ({ status: plainStatus(object), cells: [], values: read(object) }),
    filters: Object.fromEntries(names.map(name => [name, exact(name)])),
  }
}

export const loginRecords = byValues(({ spec }) => ({ type: textOf(fieldsOf(spec).type) }), ['type'])

export const workspaceRoles = (groupDomain: string) =>
  byValues(
    ({ metadata }) => ({ workspace: metadata.labels?.[`${groupDomain}/workspace`] ?? '' }),
    ['workspace'],
  )

export const workspaceRoleBindings = byValues(
  object => ({ rolename: textOf(fieldsOf(object.roleRef).name) }),
  ['rolename'],
)

export const groupBindings = (groupDomain: string): KindOptions => ({
  toFields: object => ({
    status: '',
    cells: [],
    values: {
      users: joinValues([
        ...itemsOf(object.users).map(textOf),
        object.metadata.labels?.[`iam.${groupDomain}/user-ref`] ?? '',
      ]),
    },
  }),
  filters: { user: anyOf('users') },
})

function plainStatus(object: KubeObject): string {
  const status = fieldsOf(object.status)
  const word = textOf(status.phase) || textOf(status.state)
  if (word !== '') return word
  const ready = itemsOf(status.conditions)
    .map(fieldsOf)
    .find(({ type }) => type === 'Ready' || type === 'Available' || type === 'Established')
  return ready === undefined ? '' : ready.status === 'True' ? textOf(ready.type) : `Not${textOf(ready.type)}`
}
