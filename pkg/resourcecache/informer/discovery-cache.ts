import type { KubeClient } from '../../kubeclient/client.ts'
import { fieldsOf, itemsOf, textOf } from '../../kubeclient/object/object.ts'
import type { Kind, KindOptions } from '../kind.ts'
import { plain } from '../kinds/platform.ts'
import { createKindTable, resourcesGroup } from '../kinds.ts'

export type DiscoveryCache = {
  /** Returns the kind of a group and version; undefined if it cannot be listed. */
  readonly find: (group: string, version: string, plural: string) => Promise<Kind | undefined>
  /** Returns the kind for a plural: of the table, then of the platform, then built-in. */
  readonly findByPlural: (plural: string) => Promise<Kind | undefined>
  /** Returns a kind that can be watched, in the preferred version of its group. */
  readonly findByKind: (group: string, kind: string) => Promise<Kind | undefined>
}

// Limits refreshes: not each request for an unknown kind causes one to kube-apiserver.
const refreshMs = { known: 60_000, missing: 2_000 }
const aggregatedDiscovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const accept = `${aggregatedDiscovery},${aggregatedDiscovery.replace('v=v2', 'v=v2beta1')}`

type DiscoveryResult = { readonly kinds: readonly Kind[]; readonly atMs: number }

/**
 * Maintains the resources of kube-apiserver by aggregated discovery (KEP-3352): built-in kinds and
 * custom resources. The group of the extension API is excluded, since this server itself serves it.
 */
export function createDiscoveryCache(options: {
  readonly client: KubeClient
  readonly groupDomain: string
}): DiscoveryCache {
  const { client, groupDomain } = options
  const table = createKindTable(groupDomain)
  const own = resourcesGroup(groupDomain)
  let found: DiscoveryResult | undefined
  let inFlight: Promise<DiscoveryResult> | undefined

  function refresh(): Promise<DiscoveryResult> {
    inFlight ??= readDiscovery(client)
      .then(kinds => {
        found = { kinds: kinds.filter(({ group }) => group !== own).map(toKind), atMs: performance.now() }
        return found
      })
      .finally(() => {
        inFlight = undefined
      })
    return inFlight
  }

  function toKind(resource: DiscoveredResource): Kind {
    const { group, version, plural, namespaced, isWatchable } = resource
    const kindOptions: KindOptions =
      table.find(row => row.group === group && row.plural === plural)?.options ?? plain
    const scope = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    return {
      plural,
      singular: resource.singular,
      kind: resource.kind,
      namespaced,
      source: { group, version, path: `${scope}/${plural}` },
      shortNames: [],
      categories: [],
      columns: kindOptions.columns ?? [],
      toFields: kindOptions.toFields,
      filters: kindOptions.filters,
      ...(kindOptions.hidden === undefined ? {} : { hidden: kindOptions.hidden }),
      ...(isWatchable ? {} : { isListedOnly: true }),
    }
  }

  async function search(pick: (kinds: readonly Kind[]) => Kind | undefined): Promise<Kind | undefined> {
    const known = found && performance.now() - found.atMs < refreshMs.known ? found : await refresh()
    const kind = pick(known.kinds)
    if (kind !== undefined || performance.now() - known.atMs < refreshMs.missing) return kind
    return pick((await refresh()).kinds)
  }

  function rank(kind: Kind): number {
    const { group } = kind.source
    // Such kinds have low precedence: metrics.k8s.io has the plurals of the kinds that it measures.
    if (kind.isListedOnly) return 4
    if (table.some(row => row.plural === kind.plural && row.group === group)) return 0
    if (group === '') return 1
    return group.endsWith(`.${groupDomain}`) ? 2 : 3
  }

  return {
    find: (group, version, plural) =>
      search(kinds =>
        kinds.find(
          ({ source, plural: name }) =>
            name === plural && source.group === group && source.version === version,
        ),
      ),
    findByKind: (group, kind) =>
      search(kinds =>
        kinds.find(found => found.source.group === group && found.kind === kind && !found.isListedOnly),
      ),
    findByPlural: plural =>
      search(
        kinds =>
          kinds
            .filter(kind => kind.plural === plural)
            .map(kind => ({ kind, at: rank(kind) }))
            // Ties are broken by the order of discovery, which lists preferred versions first.
            .sort((a, b) => a.at - b.at)[0]?.kind,
      ),
  }
}

type DiscoveredResource = {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  readonly isWatchable: boolean
}

async function readDiscovery(client: KubeClient): Promise<DiscoveredResource[]> {
  const documents = await Promise.all(['/api', '/apis'].map(path => client.call({ path, accept })))
  return documents.flatMap(document => itemsOf(fieldsOf(document).items).map(fieldsOf).flatMap(readGroup))
}

function readGroup(item: Readonly<Record<string, unknown>>): DiscoveredResource[] {
  const group = textOf(fieldsOf(item.metadata).name)
  return itemsOf(item.versions)
    .map(fieldsOf)
    .flatMap(version =>
      itemsOf(version.resources)
        .map(fieldsOf)
        .filter(({ verbs }) => itemsOf(verbs).includes('list'))
        .map(resource => ({
          group,
          version: textOf(version.version),
          plural: textOf(resource.resource),
          singular: textOf(resource.singularResource),
          kind: textOf(fieldsOf(resource.responseKind).kind),
          namespaced: resource.scope === 'Namespaced',
          isWatchable: itemsOf(resource.verbs).includes('watch'),
        })),
    )
}
