import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ExpiringCache } from '../authn/expiring-cache.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Identity } from '../request/identity.ts'
import type { Collection } from '../resources/collection.ts'
import type { Visible } from '../resources/visible.ts'
import { decidingExtra } from './deciding-extra.ts'
import type { GrantIndex } from './rbac-index.ts'
import { review } from './review.ts'

export type VisibilityOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  /** Role bindings that give any right at all. */
  readonly index: GrantIndex
  /** The namespaces that there are, each with its workspace. @throws Status 503 */
  readonly namespaces: () => Promise<Collection>
}

/** What a caller may see of a kind; undefined when that is everything, at once for a kind that is not narrowed at all. */
export type FindVisible = (plural: string, identity: Identity) => Promise<Visible | undefined> | undefined

const superuserGroup = 'system:masters'
const cacheMs = 10_000
const maxCallers = 2048

/**
 * Namespaces and workspaces as their callers may see them, which RBAC cannot say of a list: whoever may list all of the
 * orchestrator's own sees all; everybody else sees the namespaces in which a role binding gives them any right, the
 * workspaces of these, and those that they manage.
 *
 * @throws Status 503 when the orchestrator does not answer
 */
export function createVisibility(options: VisibilityOptions): FindVisible {
  const { client, index, groupDomain, namespaces } = options
  const seesAll = new ExpiringCache<boolean>(maxCallers, () => performance.now())

  async function maySeeAll(plural: string, identity: Identity): Promise<boolean> {
    if (identity.groups.includes(superuserGroup)) return true
    const { username: user, uid, groups } = identity
    const extra = decidingExtra(identity)
    const key = JSON.stringify([plural, user, uid, groups, extra])
    const known = seesAll.get(key)
    if (known !== undefined) return known
    const group = plural === 'workspaces' ? `tenant.${groupDomain}` : ''
    const resourceAttributes = { verb: 'list', group, resource: plural }
    const { isAllowed } = await review(client, { user, uid, groups, extra, resourceAttributes })
    seesAll.set(key, isAllowed, performance.now() + cacheMs)
    return isAllowed
  }

  async function find(plural: 'namespaces' | 'workspaces', identity: Identity): Promise<Visible | undefined> {
    if (await maySeeAll(plural, identity)) return undefined
    if (plural === 'namespaces') return visibleNamespaces(index, identity)
    return visibleWorkspaces(await namespaces(), visibleNamespaces(index, identity), identity)
  }

  // Nearly all reads are of other kinds: they wait for nothing.
  return (plural, identity) =>
    plural === 'namespaces' || plural === 'workspaces' ? find(plural, identity) : undefined
}

function visibleNamespaces(index: VisibilityOptions['index'], identity: Identity): Visible {
  const find = () => new Set(index.grantsOf(identity).flatMap(({ namespaces }) => namespaces))
  let names = find()
  return {
    key: toSetKey('namespaces', names),
    has: entry => names.has(entry.name),
    onChange: listener =>
      index.onChange(
        oncePerTurn(() => {
          names = find()
          listener()
        }),
      ),
  }
}

function visibleWorkspaces(namespaces: Collection, visible: Visible, identity: Identity): Visible {
  const find = () =>
    new Set([...namespaces.entries()].filter(visible.has).map(({ facts }) => facts.values.workspace ?? ''))
  let names = find()
  return {
    key: toSetKey(`workspaces ${identity.username}`, names),
    has: entry => entry.facts.values.manager === identity.username || names.has(entry.name),
    onChange: listener => {
      const renew = () => {
        names = find()
        listener()
      }
      const stops = [
        visible.onChange(renew),
        namespaces.subscribe({ changed: oncePerTurn(renew), reset: renew }),
      ]
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}

function toSetKey(what: string, names: ReadonlySet<string>): string {
  return createHash('sha256')
    .update(JSON.stringify([what, ...[...names].sort()]))
    .digest('base64url')
}

/** Many bindings may change together, as when a namespace is emptied. */
function oncePerTurn(work: () => void): () => void {
  let isDue = false
  return () => {
    if (isDue) return
    isDue = true
    void nextTurn().then(() => {
      isDue = false
      work()
    })
  }
}
