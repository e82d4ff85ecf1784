import type { Identity } from '../../apirequest/identity/identity.ts'
import { type RequestInfo, toResourceInfo } from '../../apirequest/request-info.ts'
import { createBoundedCache } from '../../cache/bounded-cache.ts'
import { createSingleFlight } from '../../cache/single-flight.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { RbacReader } from '../rbac/rbac-index.ts'
import { type AllowedNamespaces, allowedNamespaces } from '../review/allowed-namespaces.ts'
import type { RuleResolution } from '../review/rule-completeness.ts'
import { reviewAccess } from '../subject-access-review.ts'
import { confirmNamespaces, confirmSample, maxReviews } from '../visibility/confirm-namespaces.ts'
import { toSetKey } from '../visibility/visibility.ts'

export type GrantedNamespacesOptions = {
  readonly client: KubeClient
  readonly reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf' | 'onChange'>
  readonly resolution: () => Promise<RuleResolution>
  readonly identityKey: (identity: Identity) => string
}

const mebibyte = 1024 * 1024
const confirmedMs = 10_000
// Denials are cached only briefly: the authorizer of kube-apiserver may receive a new binding after
// this program.
const deniedMs = 1_000
// With an authorizer whose rules are unknown, each namespace requires a review.
const maxConfirmed = 1024

/** Namespaces, with a key that identifies them. */
export type NamespaceSet = { readonly key: string; readonly names: ReadonlySet<string> }

/** A request whose namespaces are searched; the key identifies it and its caller. */
export type AccessQuery = {
  readonly key: string
  readonly identity: Identity
  readonly attributes: RequestInfo
}

/** What RBAC grants. `key` identifies it; `namespacesKey` identifies the namespaces alone. */
type Grants = AllowedNamespaces & {
  readonly generation: number
  readonly key: string
  readonly namespacesKey: string
}

const everywhere: NamespaceSet = { key: toSetKey('everywhere', []), names: new Set() }

/**
 * Finds the namespaces in which RBAC and kube-apiserver allow a request. The namespaces come from
 * bindings, and a SubjectAccessReview confirms each. If there are many and RBAC is the only
 * authorizer, a sample is confirmed.
 */
export function createGrantedNamespaces({
  client,
  reader,
  resolution,
  identityKey,
}: GrantedNamespacesOptions) {
  // 8 bytes per name: the strings are shared with the bindings.
  const grantsCache = createBoundedCache<Grants>({
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
  let generation = 0
  reader.onChange(() => generation++)

  function toAccessQuery(attributes: RequestInfo, identity: Identity): AccessQuery {
    const { verb, group, version, resource, name } = attributes
    const key = JSON.stringify([identityKey(identity), verb, group, version, resource, name])
    return { key, identity, attributes }
  }

  /** Returns what RBAC grants now. @throws Status 503 before the first lists */
  function grantsOf({ key, identity, attributes }: AccessQuery): Grants {
    const cached = grantsCache.get(key)
    if (cached?.generation === generation) return cached
    const allowed = allowedNamespaces(reader, identity, { ...attributes, isResource: true })
    const namespacesKey = toSetKey('narrowed', allowed.namespaces)
    const grantsKey = allowed.allNamespaces ? `${everywhere.key} ${namespacesKey}` : namespacesKey
    const found = { ...allowed, generation, key: grantsKey, namespacesKey }
    grantsCache.set(key, found)
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
    if (!grantsOf(access).allNamespaces) return false
    const confirm = async () => ((await mayIn(access, '')) ? everywhere : toSet([]))
    return (await confirmOnce(`${access.key} everywhere`, everywhere.key, confirm)) === everywhere
  }

  /** Returns the namespaces in which RoleBindings grant the permission, by kube-apiserver too. */
  function findNamespaces(access: AccessQuery): Promise<NamespaceSet> {
    const { namespaces, namespacesKey } = grantsOf(access)
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
    const set = sets.get(key) ?? { key, names: new Set(names) }
    sets.set(key, set)
    return set
  }

  return { toAccessQuery, grantsOf, isEverywhere, findNamespaces, toSet }
}
