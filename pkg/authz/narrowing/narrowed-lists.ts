import type { ServerResponse } from 'node:http'
import type { Status } from '../../apierrors/status.ts'
import { hasNoCredential, type Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { RequestInfo } from '../../apirequest/request-info.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import type { TaskQueue } from '../../scheduling/task-queue.ts'
import { createIdentityKey } from '../authorizer.ts'
import { forbidden } from '../forbidden.ts'
import { coalesce } from '../visibility/visibility.ts'
import {
  type AccessQuery,
  createGrantedNamespaces,
  type GrantedNamespacesOptions,
  type NamespaceSet,
} from './granted-namespaces.ts'
import type { NarrowingRole } from './narrowing-role.ts'
import { createShownVersions } from './shown-versions.ts'

export type NarrowedListsOptions = Omit<GrantedNamespacesOptions, 'identityKey'> & {
  /** Returns the permission that narrows a list; the role itself grants no objects. */
  readonly role: Pick<NarrowingRole, 'narrowedBy'>
  /** Runs checks in time slices: a change may affect the permissions of a thousand watches. */
  readonly tasks: TaskQueue
}

export type NarrowedLists = {
  /**
   * Narrows a denied cluster-wide list or watch to the namespaces in which the caller has the
   * required permission. Returns false if there are none, or if the permission is cluster-wide: then
   * the narrowed list would omit objects that the caller may see.
   *
   * @param isNamespaced reports whether the listed kind is namespaced
   * @throws Status 503
   */
  readonly narrow: (
    exchange: AuthenticatedExchange,
    attributes: RequestInfo,
    isNamespaced: () => Promise<boolean>,
  ) => Promise<boolean>
  /** Returns the objects that the caller of a narrowed request may see; otherwise undefined. */
  readonly of: (exchange: Pick<AuthenticatedExchange, 'res'>) => ObjectVisibility | undefined
}

/** Response header with the number of namespaces that a narrowed list covers. */
export const narrowedHeader = 'kapis-narrowed-namespaces'

const recheckMs = 5_000
// Longer than any real name; longer names are not narrowed, so that callers cannot fill the caches.
const maxName = 253

/** The namespaces that a caller may see for a request; `grantsKey` identifies the grants. */
type VisibleNamespaces = {
  readonly set: NamespaceSet
  readonly grantsKey: string
  /** Whether the reviews of kube-apiserver agree with RBAC. */
  readonly isConfirmed: boolean
  readonly unfollowed?: Status | undefined
}

/** Reports whether a denied request can be narrowed, by its attributes. */
export function isNarrowable(info: RequestInfo, identity: Identity): boolean {
  const { verb, namespace, isInNamespace, subresource, namedBy, name } = info
  const isOfCluster = info.isResource && namespace === '' && !isInNamespace && subresource === ''
  const isList = (verb === 'list' || verb === 'watch') && namedBy !== 'path' && name.length <= maxName
  // Callers without a credential must log in first. A name that may have lost spaces may be that of
  // another user.
  return isOfCluster && isList && !hasNoCredential(identity) && identity.isTrimmed !== true
}

/** Narrows cluster-wide lists for callers who may list in some namespaces (docs/adr/0019). */
export function createNarrowedLists(options: NarrowedListsOptions): NarrowedLists {
  const { client, reader, resolution, role, tasks } = options
  const narrowed = new WeakMap<ServerResponse, ObjectVisibility>()
  const identityKey = createIdentityKey()
  const { toAccessQuery, grantsOf, isEverywhere, findNamespaces, toSet } = createGrantedNamespaces({
    ...{ client, reader, resolution, identityKey },
  })
  const shown = createShownVersions(identityKey)

  /** Returns the list for a watch, which needs namespaces in which the caller may also list. */
  const listOf = ({ attributes, identity }: AccessQuery) =>
    toAccessQuery({ ...attributes, verb: 'list' }, identity)

  function grantsKeyOf(access: AccessQuery): string {
    const { key } = grantsOf(access)
    return access.attributes.verb === 'watch' ? `${key} ${grantsOf(listOf(access)).key}` : key
  }

  /**
   * Returns the namespaces for a request that was denied for the whole cluster. A cluster-wide
   * binding does not count: kube-apiserver has not received it yet, or another authorizer denies.
   */
  async function see(access: AccessQuery): Promise<VisibleNamespaces> {
    const list = listOf(access)
    const [granted, listGrants, grantsKey] = [grantsOf(access), grantsOf(list), grantsKeyOf(access)]
    const set = await findNamespaces(access)
    const isConfirmed = !granted.allNamespaces && set.key === granted.namespacesKey
    if (access.attributes.verb !== 'watch') return { set, grantsKey, isConfirmed }
    if (await isEverywhere(list))
      return { set, grantsKey, isConfirmed, unfollowed: forbidWatch(access, ['']) }
    const listed = await findNamespaces(list)
    const both = toSet([...set.names].filter(name => listed.names.has(name)))
    const unwatched = [...listed.names].filter(name => !set.names.has(name))
    return {
      set: both,
      grantsKey,
      isConfirmed: isConfirmed && !listGrants.allNamespaces && listed.key === listGrants.namespacesKey,
      unfollowed: forbidWatch(access, unwatched),
    }
  }

  function toVisible(
    exchange: Exchange,
    access: AccessQuery,
    visibleNamespaces: VisibleNamespaces,
  ): ObjectVisibility {
    const { set, grantsKey, isConfirmed, unfollowed } = visibleNamespaces
    const { key, names } = set
    const isCurrent = () => grantsKeyOf(access) === grantsKey
    // The narrowing role may be bound by now, so the caller's own permissions must be checked
    // instead of the role's.
    const own = () => toAccessQuery(role.narrowedBy(access.attributes, access.identity), access.identity)
    return {
      key,
      has: ({ namespace }) => names.has(namespace),
      namespaces: names,
      permissions: {
        isCurrent,
        mayStillSee() {
          if (isCurrent()) return true
          const { allNamespaces, namespaces } = grantsOf(own())
          return allNamespaces || names.isSubsetOf(new Set(namespaces))
        },
        async renew() {
          const again = own()
          if (await isEverywhere(again)) {
            narrowed.delete(exchange.res)
            exchange.res.removeHeader(narrowedHeader)
            return undefined
          }
          const namespaces = await show(exchange, again)
          if (namespaces === undefined) throw forbidden(access.attributes, access.identity, '')
          return namespaces
        },
      },
      onChange(listener) {
        let isStopped = false
        const update = coalesce(tasks, () => {
          if (!isStopped && !isCurrent()) listener()
        })
        const recheck = async () => {
          const now = await see(access).catch(() => undefined)
          const isAll = await isEverywhere(access).catch(() => false)
          if (!isStopped && (isAll || now?.set.key !== key)) listener()
        }
        const stop = reader.onChange(update)
        const timer = isConfirmed ? undefined : setTimeout(recheck, recheckMs).unref()
        // Checks once, since changes before this call had no listener.
        update()
        return () => {
          isStopped = true
          clearTimeout(timer)
          stop()
        }
      },
      fixed: { ...shown.of(access, key), ...(unfollowed && { unfollowed }) },
    }
  }

  async function show(exchange: Exchange, access: AccessQuery): Promise<ObjectVisibility | undefined> {
    if (grantsOf(access).namespaces.length === 0) return undefined
    const namespaces = await see(access)
    if (namespaces.set.names.size === 0) return undefined
    const { res } = exchange
    if (!res.headersSent) res.setHeader(narrowedHeader, String(namespaces.set.names.size))
    const visible = toVisible(exchange, access, namespaces)
    narrowed.set(res, visible)
    return visible
  }

  return {
    async narrow(exchange, attributes, isNamespaced) {
      const access = toAccessQuery(attributes, exchange.identity)
      if (grantsOf(access).namespaces.length === 0 || !(await isNamespaced())) return false
      if (await isEverywhere(access)) return false
      return (await show(exchange, access)) !== undefined
    },
    of: ({ res }) => narrowed.get(res),
  }
}

type Exchange = Pick<AuthenticatedExchange, 'res' | 'identity'>

const maxNames = 3

/**
 * Returns the 403 for a watch that continues a list, if the list shows more than the watch may.
 *
 * @param unwatched namespaces in which the caller may list but not watch; '' for all namespaces
 */
function forbidWatch(
  { attributes, identity }: AccessQuery,
  unwatched: readonly string[],
): Status | undefined {
  const [first] = unwatched
  if (first === undefined) return undefined
  const named = unwatched.slice(0, maxNames).map(name => JSON.stringify(name))
  const rest = unwatched.length > maxNames ? ` and ${unwatched.length - maxNames} more` : ''
  const where = first === '' ? 'the whole cluster' : `the namespaces ${named.join(', ')}${rest}`
  const reason = `you may list but not watch in ${where}; watch one namespace, or watch with sendInitialEvents=true, which covers the namespaces where you may list and watch`
  return forbidden({ ...attributes, namespace: first }, identity, reason)
}
