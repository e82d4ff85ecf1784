import { ExpiringCache } from '../authn/expiring-cache.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Identity } from '../request/identity.ts'
import { decidingExtra } from './deciding-extra.ts'
import { review } from './review.ts'

export type SeesAllOptions = {
  readonly client: KubeClient
  readonly groupDomain: string
  /** Told whenever what is given in the whole cluster may have changed. */
  readonly onClusterChange: (listener: () => void) => void
}

/** Who may list all of the orchestrator's own namespaces or workspaces. */
export type SeesAll = {
  /** @throws Status 503 when the orchestrator does not answer */
  readonly of: (plural: string, identity: Identity) => Promise<boolean>
  /** How often the answers have been forgotten because they may be others now. */
  readonly round: () => number
  /** Told of each such round, one listener after the other, until the returned function is called. */
  readonly onRound: (listener: () => Promise<void>) => () => void
}

const superuserGroup = 'system:masters'
const cacheMs = 10_000
const maxCallers = 2048
// What is told here of a binding may come before the orchestrator's authorizer has heard of it: it is asked soon, and once
// more when it must have.
const lookMs = { soon: 500, late: 5_000 }

export function createSeesAll({ client, groupDomain, onClusterChange }: SeesAllOptions): SeesAll {
  const listeners = new Set<() => Promise<void>>()
  let known = new ExpiringCache<boolean>(maxCallers, () => performance.now())
  let rounds = 0
  let isDue = false
  let late: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    known = new ExpiringCache(maxCallers, () => performance.now())
    rounds++
    // A thousand watches are not to become a thousand questions at once.
    for (const listener of [...listeners]) await listener()
  }

  onClusterChange(() => {
    clearTimeout(late)
    late = setTimeout(look, lookMs.late).unref()
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      void look()
    }, lookMs.soon).unref()
  })

  return {
    async of(plural, identity) {
      if (identity.groups.includes(superuserGroup)) return true
      // An answer to a question of before a change is not kept for after it.
      const cache = known
      const { username: user, uid, groups } = identity
      const extra = decidingExtra(identity)
      const key = JSON.stringify([plural, user, uid, groups, extra])
      const found = cache.get(key)
      if (found !== undefined) return found
      const group = plural === 'workspaces' ? `tenant.${groupDomain}` : ''
      const resourceAttributes = { verb: 'list', group, resource: plural }
      const { isAllowed } = await review(client, { user, uid, groups, extra, resourceAttributes })
      cache.set(key, isAllowed, performance.now() + cacheMs)
      return isAllowed
    },
    round: () => rounds,
    onRound(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
