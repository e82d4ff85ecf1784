import type { ServerResponse } from 'node:http'
import { hasNoCredential, type Identity } from '../apirequest/identity.ts'
import type { AuthenticatedExchange } from '../apirequest/request-context.ts'
import { type RequestInfo, toResourceInfo } from '../apirequest/request-info.ts'
import { type BoundedCache, createBoundedCache } from '../cache/bounded-cache.ts'
import type { KubeClient } from '../kubeclient/client.ts'
import type { Visible } from '../resourcecache/list/object-visibility.ts'
import { toReviewSpec } from './attributes.ts'
import { createIdentityKey } from './authorizer.ts'
import { confirmNamespaces, confirmSample, maxReviews } from './confirm-namespaces.ts'
import type { RbacReader } from './rbac-index.ts'
import { allowedNamespaces } from './review/allowed-namespaces.ts'
import type { RuleResolution } from './review/rule-resolution.ts'
import { review } from './subject-access-review.ts'
import { oncePerTurn, toSetKey } from './visibility.ts'

export type NarrowedListsOptions = {
  readonly client: KubeClient
  readonly reader: Pick<RbacReader, 'bindingsOf' | 'rulesOf' | 'onChange'>
  readonly resolution: () => Promise<RuleResolution>
}

export type NarrowedLists = {
  /**
   * Narrows a refused list or watch of the whole cluster to the namespaces in which the caller has
   * the right that it takes. Returns false if there are none.
   *
   * @param isNamespaced whether the kind that is listed is
   * @throws Status 503
   */
  readonly narrow: (
    exchange: AuthenticatedExchange,
    attributes: RequestInfo,
    isNamespaced: () => Promise<boolean>,
  ) => Promise<boolean>
  /** What the caller of a narrowed request may see; undefined for any other request. */
  readonly of: (exchange: Pick<AuthenticatedExchange, 'res'>) => Visible | undefined
}

/** The number of namespaces that a narrowed list holds objects of. */
export const narrowedHeader = 'kapis-narrowed-namespaces'

const mebibyte = 1024 * 1024
const confirmedMs = 10_000
// kube-apiserver's authorizer may receive a new binding after this program does.
const deniedMs = 1_000
const lookAgainMs = 5_000
// With an authorizer whose rules are unknown, each namespace takes a review.
const maxConfirmed = 1024
// Longer than any real name; callers must not fill the caches.
const maxName = 253

type NamespaceSet = { readonly key: string; readonly names: ReadonlySet<string> }
type Asked = { readonly key: string; readonly identity: Identity; readonly attributes: RequestInfo }
/** What RBAC gives. */
type Given = { readonly generation: number; readonly key: string; readonly names: readonly string[] }
/** The namespaces that a caller was shown objects of, and since which version of the store. */
type Shown = { readonly key: string; readonly version: number }

/** Whether a refused request is one that can be narrowed, by its attributes. */
export function isNarrowable(info: RequestInfo, identity: Identity): boolean {
  const { verb, namespace, isInNamespace, subresource, namedBy, name } = info
  const isOfCluster = info.isResource && namespace === '' && !isInNamespace && subresource === ''
  const isList = (verb === 'list' || verb === 'watch') && namedBy !== 'path' && name.length <= maxName
  // One who has no credential is to log in. A name that may have lost blanks is not the caller's.
  return isOfCluster && isList && !hasNoCredential(identity) && identity.isTrimmed !== true
}

/**
 * Lists of the whole cluster for callers who may list in some namespaces (docs/adr/0019). RBAC's
 * bindings say which; a SubjectAccessReview confirms each, or a sample if they are many and
 * kube-apiserver decides by RBAC alone.
 */
export function createNarrowedLists({ client, reader, resolution }: NarrowedListsOptions): NarrowedLists {
  const narrowed = new WeakMap<ServerResponse, Visible>()
  // Names of namespaces are shared with the bindings.
  const given = createBoundedCache<Given>({
    maxBytes: 4 * mebibyte,
    sizeOf: ({ names }) => 8 * names.length,
  })
  const confirmed = createBoundedCache<string>({ maxBytes: 2 * mebibyte, sizeOf: key => 2 * key.length })
  // Equal sets are one, however many callers have it.
  const sets = createBoundedCache<NamespaceSet>({
    maxBytes: 8 * mebibyte,
    sizeOf: ({ names }) => 48 * names.size,
  })
  const createShown = () => createBoundedCache<Shown>({ maxBytes: 4 * mebibyte, sizeOf: () => 150 })
  const shown = createShown()
  // Of lists of one name, which callers can have any number of.
  const shownNamed = createShown()
  const inFlight = new Map<string, Promise<NamespaceSet>>()
  const identityKey = createIdentityKey()
  let generation = 0
  reader.onChange(() => generation++)

  function givenTo({ key, identity, attributes }: Asked): Given {
    const known = given.get(key)
    if (known?.generation === generation) return known
    const { allNamespaces, namespaces } = allowedNamespaces(reader, identity, {
      ...attributes,
      isResource: true,
    })
    // An authorizer denies what RBAC allows in the whole cluster, or RBAC has just changed.
    const names = allNamespaces ? [] : namespaces
    const found = { generation, names, key: toSetKey('narrowed', names) }
    given.set(key, found)
    return found
  }

  async function find(asked: Asked, { key: givenKey, names }: Given): Promise<NamespaceSet> {
    const key = `${asked.key} ${givenKey}`
    const known = sets.get(confirmed.get(key) ?? '')
    if (known !== undefined) return known
    const running = inFlight.get(key) ?? confirm(asked, names).finally(() => inFlight.delete(key))
    inFlight.set(key, running)
    const found = await running
    sets.set(found.key, found)
    confirmed.set(key, found.key, found.key === givenKey ? confirmedMs : deniedMs)
    return found
  }

  async function confirm({ identity, attributes }: Asked, names: readonly string[]): Promise<NamespaceSet> {
    const { verb, group, version, resource, name: listed } = attributes
    const mayList = async (namespace: string, name: string) => {
      const info = toResourceInfo({ verb, group, version, resource, namespace, name })
      return (await review(client, toReviewSpec(info, identity))).isAllowed
    }
    // The right to list all is the right to list one.
    const may = async (namespace: string) =>
      (await mayList(namespace, '')) || (listed !== '' && (await mayList(namespace, listed)))
    const isSampled = names.length > maxReviews && !(await resolution()).incomplete
    const allowed =
      isSampled && (await confirmSample(names, may))
        ? names
        : names.length > maxConfirmed
          ? []
          : await confirmNamespaces(names, may)
    const key = toSetKey('narrowed', allowed)
    return sets.get(key) ?? { key, names: new Set(allowed) }
  }

  function toVisible(asked: Asked, { key, names }: NamespaceSet, givenKey: string): Visible {
    const { group, resource, name } = asked.attributes
    const cache: BoundedCache<Shown> = name === '' ? shown : shownNamed
    // Without the verb: a watch goes on from a list of the same namespaces only.
    const place = JSON.stringify([identityKey(asked.identity), group, resource, name])
    const versionShown = () => {
      const last = cache.get(place)
      return last?.key === key ? last.version : undefined
    }
    return {
      key,
      has: ({ namespace }) => names.has(namespace),
      onChange(listener) {
        let isStopped = false
        const look = oncePerTurn(() => {
          if (!isStopped && givenTo(asked).key !== givenKey) listener()
        })
        const findAgain = async () => find(asked, givenTo(asked))
        const lookAgain = async () => {
          const now = await findAgain().catch(() => undefined)
          if (!isStopped && now?.key !== key) listener()
        }
        const stop = reader.onChange(look)
        const timer = key === givenKey ? undefined : setTimeout(lookAgain, lookAgainMs).unref()
        // Earlier changes had no listener.
        look()
        return () => {
          isStopped = true
          clearTimeout(timer)
          stop()
        }
      },
      fixed: {
        versionShown,
        show(version) {
          if (versionShown() === undefined) cache.set(place, { key, version })
        },
      },
    }
  }

  return {
    async narrow({ res, identity }, attributes, isNamespaced) {
      const { verb, group, version, resource, name } = attributes
      const key = JSON.stringify([identityKey(identity), verb, group, version, resource, name])
      const asked = { key, identity, attributes }
      if (givenTo(asked).names.length === 0 || !(await isNamespaced())) return false
      const rights = givenTo(asked)
      const found = await find(asked, rights)
      if (found.names.size === 0) return false
      narrowed.set(res, toVisible(asked, found, rights.key))
      if (!res.headersSent) res.setHeader(narrowedHeader, String(found.names.size))
      return true
    },
    of: ({ res }) => narrowed.get(res),
  }
}
