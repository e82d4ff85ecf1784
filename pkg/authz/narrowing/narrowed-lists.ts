import type { ServerResponse } from 'node:http'
import type { Status } from '../../apierrors/status.ts'
import { hasNoCredential, type Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { type RequestInfo, toResourceInfo } from '../../apirequest/request-info.ts'
import { createBoundedCache } from '../../cache/bounded-cache.ts'
import { createSingleFlight } from '../../cache/single-flight.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { ObjectVisibility } from '../../resourcecache/list/object-visibility.ts'
import type { TaskQueue } from '../../scheduling/task-queue.ts'
import { createIdentityKey } from '../authorizer.ts'
import { forbidden } from '../forbidden.ts'
import type { RbacReader } from '../rbac/rbac-index.ts'
import { type AllowedNamespaces, allowedNamespaces } from '../review/allowed-namespaces.ts'
import type { RuleResolution } from '../review/rule-completeness.ts'
import { reviewAccess } from '../subject-access-review.ts'
import { confirmNamespaces, confirmSample, maxReviews } from '../visibility/confirm-namespaces.ts'
import { coalesce, toSetKey } from '../visibility/visibility.ts'
import type { NarrowingRole } from './narrowing-role.ts'
import { createShownVersions } from './shown-versions.ts'

export type NarrowedListsOptions = {
  readonly client: KubeClient
  readonly reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf' | 'onChange'>
  readonly resolution: () => Promise<RuleResolution>
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

const mebibyte = 1024 * 1024
const confirmedMs = 10_000
// Denials are cached only briefly: the authorizer of kube-apiserver may receive a new binding after
// this program.
const deniedMs = 1_000
const recheckMs = 5_000
// With an authorizer whose rules are unknown, each namespace requires a review.
const maxConfirmed = 1024
// Longer than any real name; longer names are not narrowed, so that callers cannot fill the caches.
const maxName = 253

type NamespaceSet = { readonly key: string; readonly names: ReadonlySet<string> }
type AccessQuery = { readonly key: string; readonly identity: Identity; readonly attributes: RequestInfo }
/** What RBAC grants; `namespacesKey` identifies the namespaces alone. */
type CachedAccess = AllowedNamespaces & {
  readonly generation: number
  readonly key: string
  readonly namespacesKey: string
}
/** The namespaces that a caller may see for a request; `givenKey` identifies the bindings. */
type VisibleNamespaces = {
  readonly set: NamespaceSet
  readonly givenKey: string
  /** Whether the reviews of kube-apiserver agree with RBAC. */
  readonly isAsGiven: boolean
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

/**
 * Narrows cluster-wide lists for callers who may list in some namespaces (docs/adr/0019). The
 * namespaces come from bindings of RBAC, and a SubjectAccessReview confirms each. If there are many
 * and RBAC is the only authorizer, a sample is confirmed.
 */
export function createNarrowedLists(options: NarrowedListsOptions): NarrowedLists {
  const { client, reader, resolution, role, tasks } = options
  const narrowed = new WeakMap<ServerResponse, ObjectVisibility>()
  // 8 bytes per name: the strings are shared with the bindings.
  const accessCache = createBoundedCache<CachedAccess>({
    maxBytes: 4 * mebibyte,
    sizeOf: ({ namespaces }) => 8 * namespaces.length,
  })
  const confirmed = createBoundedCache<string>({ maxBytes: 2 * mebibyte, sizeOf: key => 2 * key.length })
  // Callers with equal sets of namespaces share one object.
  const sets = createBoundedCache<NamespaceSet>({
    maxBytes: 8 * mebibyte,
    sizeOf: ({ names }) => 48 * names.size,
  })
  const share = createSingleFlight<NamespaceSet>()
  const identityKey = createIdentityKey()
  const shown = createShownVersions(identityKey)
  let generation = 0
  reader.onChange(() => generation++)

  function toAccessQuery(attributes: RequestInfo, identity: Identity): AccessQuery {
    const { verb, group, version, resource, name } = attributes
    const key = JSON.stringify([identityKey(identity), verb, group, version, resource, name])
    return { key, identity, attributes }
  }

  function givenTo({ key, identity, attributes }: AccessQuery): CachedAccess {
    const known = accessCache.get(key)
    if (known?.generation === generation) return known
    const allowed = allowedNamespaces(reader, identity, { ...attributes, isResource: true })
    const namespacesKey = toSetKey('narrowed', allowed.namespaces)
    const grantsKey = allowed.allNamespaces ? `${everywhere.key} ${namespacesKey}` : namespacesKey
    const found = { ...allowed, generation, key: grantsKey, namespacesKey }
    accessCache.set(key, found)
    return found
  }

  /** Returns a set that reviews confirm; a set other than the expected one is cached only briefly. */
  async function confirmOnce(
    key: string,
    expectedKey: string,
    confirm: () => Promise<NamespaceSet>,
  ): Promise<NamespaceSet> {
    const known = sets.get(confirmed.get(key) ?? '')
    if (known !== undefined) return known
    const found = await share(key, confirm)
    sets.set(found.key, found)
    confirmed.set(key, found.key, found.key === expectedKey ? confirmedMs : deniedMs)
    return found
  }

  /** Reports whether the permission is cluster-wide, by RBAC and by kube-apiserver. */
  async function isEverywhere(access: AccessQuery): Promise<boolean> {
    if (!givenTo(access).allNamespaces) return false
    const confirm = async () => ((await mayIn(access, '')) ? everywhere : toSet([]))
    return (await confirmOnce(`${access.key} everywhere`, everywhere.key, confirm)) === everywhere
  }

  /** Returns the namespaces in which RoleBindings grant the permission, by kube-apiserver too. */
  function findNamespaces(access: AccessQuery): Promise<NamespaceSet> {
    const { namespaces, namespacesKey } = givenTo(access)
    return confirmOnce(`${access.key} ${namespacesKey}`, namespacesKey, async () => {
      const may = (namespace: string) => mayIn(access, namespace)
      const isSampled = namespaces.length > maxReviews && !(await resolution()).incomplete
      if (isSampled && (await confirmSample(namespaces, may))) return toSet(namespaces)
      return toSet(namespaces.length > maxConfirmed ? [] : await confirmNamespaces(namespaces, may))
    })
  }

  async function mayIn({ identity, attributes }: AccessQuery, namespace: string): Promise<boolean> {
    const { verb, group, version, resource, name: listed } = attributes
    const mayList = async (name: string) => {
      const info = toResourceInfo({ verb, group, version, resource, namespace, name })
      return (await reviewAccess(client, info, identity)).isAllowed
    }
    // A permission to list all names includes a list of one name.
    return (await mayList('')) || (listed !== '' && (await mayList(listed)))
  }

  function toSet(names: readonly string[]): NamespaceSet {
    const key = toSetKey('narrowed', names)
    return sets.get(key) ?? { key, names: new Set(names) }
  }

  /** Returns the list for a watch, which needs namespaces in which the caller may also list. */
  const listOf = ({ attributes, identity }: AccessQuery) =>
    toAccessQuery({ ...attributes, verb: 'list' }, identity)

  function givenKeyOf(access: AccessQuery): string {
    const { key } = givenTo(access)
    return access.attributes.verb === 'watch' ? `${key} ${givenTo(listOf(access)).key}` : key
  }

  /**
   * Returns the namespaces for a request that was denied for the whole cluster. A cluster-wide
   * binding does not count: kube-apiserver has not received it yet, or another authorizer denies.
   */
  async function see(access: AccessQuery): Promise<VisibleNamespaces> {
    const list = listOf(access)
    const [granted, listGrants, givenKey] = [givenTo(access), givenTo(list), givenKeyOf(access)]
    const set = await findNamespaces(access)
    const isAsGiven = !granted.allNamespaces && set.key === granted.namespacesKey
    if (access.attributes.verb !== 'watch') return { set, givenKey, isAsGiven }
    if (await isEverywhere(list)) return { set, givenKey, isAsGiven, unfollowed: forbidWatch(access, ['']) }
    const listed = await findNamespaces(list)
    const both = toSet([...set.names].filter(name => listed.names.has(name)))
    sets.set(both.key, both)
    const unwatched = [...listed.names].filter(name => !set.names.has(name))
    return {
      set: both,
      givenKey,
      isAsGiven: isAsGiven && !listGrants.allNamespaces && listed.key === listGrants.namespacesKey,
      unfollowed: forbidWatch(access, unwatched),
    }
  }

  function toVisible(
    exchange: Exchange,
    access: AccessQuery,
    visibleNamespaces: VisibleNamespaces,
  ): ObjectVisibility {
    const { set, givenKey, isAsGiven, unfollowed } = visibleNamespaces
    const { key, names } = set
    const isCurrent = () => givenKeyOf(access) === givenKey
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
          const { allNamespaces, namespaces } = givenTo(own())
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
        const timer = isAsGiven ? undefined : setTimeout(recheck, recheckMs).unref()
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
    if (givenTo(access).namespaces.length === 0) return undefined
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
      if (givenTo(access).namespaces.length === 0 || !(await isNamespaced())) return false
      if (await isEverywhere(access)) return false
      return (await show(exchange, access)) !== undefined
    },
    of: ({ res }) => narrowed.get(res),
  }
}

type Exchange = Pick<AuthenticatedExchange, 'res' | 'identity'>

const everywhere: NamespaceSet = { key: toSetKey('everywhere', []), names: new Set() }

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
