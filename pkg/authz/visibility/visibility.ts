import { createHash } from 'node:crypto'
import { Status } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import type { CachedObject } from '../../resourcecache/store/cached-object.ts'
import type { ObjectStore } from '../../resourcecache/store/store.ts'
import type { TaskQueue } from '../../scheduling/task-queue.ts'
import type { GrantIndex, RbacReader } from '../rbac/rbac-index.ts'
import { hasGroup, hasResource, hasVerb } from '../review/rule.ts'
import {
  type ClusterVisibilityOptions,
  createClusterVisibility,
  type VisibilityRequest,
} from './cluster-visibility.ts'
import { type ClusterAccess, everythingUntilRevoked, untilAll } from './visibility-watch.ts'

export type VisibilityOptions = ClusterVisibilityOptions & {
  /** Finds role bindings that grant any permission. */
  readonly index: GrantIndex
  readonly reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf' | 'onChange'>
  /** Returns all namespaces with their workspaces. @throws Status 503 */
  readonly namespaces: () => Promise<ObjectStore>
  /** Runs checks in time slices: a change may affect the permissions of a thousand watches. */
  readonly tasks: TaskQueue
}

/**
 * Returns the objects of a kind that a caller may see; undefined for all objects. The result is
 * synchronous for kinds that are not restricted. A watch of all objects is notified when the caller
 * may no longer see all.
 */
export type FindVisible = (
  attributes: VisibilityRequest,
  identity: Identity,
) => Promise<ObjectVisibility | undefined> | undefined

/**
 * Creates the visibility of namespaces and workspaces in lists, which RBAC cannot express. A caller
 * who may list all sees all. Other callers see the namespaces in which a role binding grants them
 * any permission, and the workspaces of these namespaces. They also see workspaces that they
 * manage, and workspaces that ClusterRoleBindings let them get by name, as for members. A request
 * for a single object also shows it to callers with the requested permission on it.
 *
 * @throws Status 503 if kube-apiserver is not responding
 */
export function createVisibility(options: VisibilityOptions): FindVisible {
  const { index, reader, namespaces } = options
  const seesAll = createClusterVisibility(options)
  const changes = { count: 0 }
  index.onChange(() => changes.count++)
  reader.onChange(() => changes.count++)

  async function find(
    attributes: VisibilityRequest,
    identity: Identity,
  ): Promise<ObjectVisibility | undefined> {
    const { verb, resource, name } = attributes
    if (identity.isTrimmed) throw trimmed(resource)
    const round = seesAll.round()
    const all: ClusterAccess = {
      is: () => seesAll.of(attributes, identity),
      onRound(listener) {
        // Checks once, since notifications before this call had no listener.
        if (seesAll.round() !== round) void listener()
        return seesAll.onRound(listener)
      },
    }
    const isAll = await all.is()
    if (isAll && name === '') return verb === 'watch' ? everythingUntilRevoked(all) : undefined
    // A permission on one name must not show other objects, even if the request has no name.
    const has = (entry: CachedObject) => name === '' || entry.name === name
    if (isAll && verb !== 'watch') return { key: toSetKey('named', new Set([name])), has, onChange: never }
    const visible =
      resource === 'namespaces'
        ? visibleNamespaces(options, changes, identity)
        : visibleWorkspaces(options, changes, identity, await namespaces())
    const watched = verb === 'watch' ? untilAll(visible, all, { isAll, has }) : visible
    const { isCurrent, mayStillSee } = visible
    return { ...watched, permissions: { isCurrent, mayStillSee, renew: () => find(attributes, identity) } }
  }

  // Nearly all reads are of other kinds, which are not restricted and return synchronously.
  return (attributes, identity) =>
    attributes.resource === 'namespaces' || attributes.resource === 'workspaces'
      ? find(attributes, identity)
      : undefined
}

/**
 * Returns a 403 for an identity that may have lost spaces: kube-apiserver has only authorized the
 * list, and the objects in it must be filtered by the exact name.
 */
function trimmed(resource: string): Status {
  return new Status(
    403,
    'Forbidden',
    `${resource} cannot be listed: kube-apiserver sent the caller's name over HTTP/1.1, which strips spaces around header values; it must use HTTP/2`,
  )
}

function never(): () => void {
  return () => undefined
}

/** The objects that are visible by the current bindings; later bindings do not change it. */
type VisibilityFields = Omit<ObjectVisibility, 'permissions'> &
  Omit<NonNullable<ObjectVisibility['permissions']>, 'renew'>

/** @param changes counts changes; while the number is unchanged, bindings are not read again */
function visibleNamespaces(
  { index, tasks }: Pick<VisibilityOptions, 'index' | 'tasks'>,
  changes: { readonly count: number },
  identity: Identity,
): VisibilityFields {
  const find = () => new Set(index.grantsOf(identity).flatMap(({ namespaces }) => namespaces))
  let seenCount = changes.count
  let names = find()
  const isCurrent = () => {
    if (seenCount === changes.count) return true
    if (!isSame(find(), names)) return false
    seenCount = changes.count
    return true
  }
  return {
    key: toSetKey('namespaces', names),
    isCurrent,
    mayStillSee: () => isCurrent() || names.isSubsetOf(find()),
    has: entry => names.has(entry.name),
    onChange: listener =>
      index.onChange(
        coalesce(tasks, () => {
          seenCount = changes.count
          names = find()
          listener()
        }),
      ),
  }
}

function visibleWorkspaces(
  options: VisibilityOptions,
  changes: { readonly count: number },
  identity: Identity,
  namespaces: ObjectStore,
): VisibilityFields {
  const visible = visibleNamespaces(options, changes, identity)
  const find = () => {
    const within = [...namespaces.entries()].filter(visible.has)
    const named = namedWorkspaces(options, identity)
    return new Set([...within.map(({ fields }) => fields.values.workspace ?? ''), ...named])
  }
  let names = find()
  let seenVersion = namespaces.version
  let seenCount = changes.count
  const isCurrent = () => {
    if (!visible.isCurrent()) return false
    if (seenVersion === namespaces.version && seenCount === changes.count) return true
    if (!isSame(find(), names)) return false
    seenVersion = namespaces.version
    seenCount = changes.count
    return true
  }
  return {
    isCurrent,
    mayStillSee: () => isCurrent() || (visible.mayStillSee() && names.isSubsetOf(find())),
    key: toSetKey(`workspaces ${identity.username}`, names),
    has: entry => entry.fields.values.manager === identity.username || names.has(entry.name),
    onChange: listener => {
      const renew = () => {
        names = find()
        listener()
      }
      const stops = [
        visible.onChange(renew),
        namespaces.subscribe({ changed: coalesce(options.tasks, renew), reset: renew }),
        options.reader.onChange(
          coalesce(options.tasks, () => {
            if (!isSame(find(), names)) renew()
          }),
        ),
      ]
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}

/** Returns the workspaces that ClusterRoleBindings let a caller get by name. */
function namedWorkspaces(
  { reader, groupDomain }: Pick<VisibilityOptions, 'reader' | 'groupDomain'>,
  identity: Identity,
): readonly string[] {
  const permission = { verb: 'get', group: `tenant.${groupDomain}`, resource: 'workspaces', subresource: '' }
  const attributes = { ...permission, isResource: true, name: '', namespace: '' } as const
  const roles = reader.bindingsOf(identity).flatMap(({ namespace, role }) => (namespace === '' ? role : []))
  return roles
    .flatMap(role => reader.rulesOf(role) ?? [])
    .filter(rule => hasVerb(rule, attributes) && hasGroup(rule, attributes) && hasResource(rule, attributes))
    .flatMap(({ resourceNames }) => resourceNames)
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && one.isSubsetOf(other)
}

export function toSetKey(what: string, names: Iterable<string>): string {
  return createHash('sha256')
    .update(JSON.stringify([what, ...[...names].sort()]))
    .digest('base64url')
}

/**
 * Returns a function that queues `work` unless it is queued already: many bindings may change
 * together.
 */
export function coalesce(tasks: TaskQueue, work: () => void): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    tasks.add(() => {
      isDue = false
      work()
    })
  }
}
