import type { KubeClient } from '../../kube/client.ts'
import { parseObject } from '../../kube/object.ts'
import { Status, unavailable } from '../../status/status.ts'
import { isReservedName } from '../../token/reserved-name.ts'
import { type ProviderGroups, toUser, type User, usersPath } from '../user.ts'
import { refuse } from './refusal.ts'

const maxGroups = 256
const maxGroupLength = 253
const attempts = 5
// What is the same is written again only to say that it still is.
const observedAgainAfterMs = 3_600_000

/**
 * The groups that count, of those that a provider tells: prefixed, sorted, without the orchestrator's own and without
 * names that no binding could hold.
 *
 * @throws Status when they are too many: a part of them would be rights at random
 */
export function toGroups(told: readonly string[], prefix: string): readonly string[] {
  const groups = [...new Set(told.map(group => `${prefix}${group}`))]
    .filter(group => group !== prefix && group.length <= maxGroupLength)
    .filter(group => !isReservedName(group) && !/\p{Cc}/u.test(group))
    .sort()
  if (groups.length > maxGroups)
    throw refuse('too_many_groups', `the identity provider tells of more than ${maxGroups} groups`)
  return groups
}

export type GroupWriter = (
  user: User,
  provider: string,
  groups: readonly string[],
  nowMs?: number,
) => Promise<User>

/**
 * Keeps what a provider tells of a user's groups, in the status of the user. It is there, and not in the login, so that
 * it ends with the group: what one login, or the sweep of group-keeper.ts, finds to be gone is gone from every token of
 * the user and on every replica, as soon as the watch of users says so. In the spec they would be an administrator's
 * groups from then on, whom nobody takes them away from.
 *
 * @returns the user as he is then
 */
export function createGroupWriter(client: KubeClient, groupDomain: string): GroupWriter {
  /** @returns undefined when somebody else has written meanwhile */
  async function write(user: User, told: Told): Promise<User | undefined> {
    const path = `${usersPath(groupDomain)}/${encodeURIComponent(user.name)}`
    const object = parseObject(await client.call({ path }))
    const current = toUser(object)
    if (current.uid !== user.uid) throw unavailable('the user is being changed')
    if (isSettled(current.providerGroups, told)) return current
    const { provider, groups, nowMs } = told
    const others = current.providerGroups.filter(each => each.provider !== provider)
    const all = groups.length === 0 ? others : [...others, { provider, groups, observedAtMs: nowMs }]
    const body = {
      metadata: { resourceVersion: object.metadata.resourceVersion },
      status: { providerGroups: all.map(toStored) },
    }
    const call = { method: 'PATCH', path: `${path}/status`, body } as const
    try {
      return toUser(parseObject(await client.call({ ...call, contentType: 'application/merge-patch+json' })))
    } catch (error) {
      if (error instanceof Status && error.code === 409) return undefined
      throw error
    }
  }

  return async (user, provider, groups, nowMs = Date.now()) => {
    const told = { provider, groups, nowMs }
    if (isSettled(user.providerGroups, told)) return user
    for (let attempt = 0; attempt < attempts; attempt++) {
      const written = await write(user, told)
      if (written !== undefined) return written
    }
    throw unavailable('the user is being changed')
  }
}

type Told = { readonly provider: string; readonly groups: readonly string[]; readonly nowMs: number }

function isSettled(known: readonly ProviderGroups[], { provider, groups, nowMs }: Told): boolean {
  const old = known.find(each => each.provider === provider)
  if (old === undefined) return groups.length === 0
  const isSame = old.groups.length === groups.length && old.groups.every((group, i) => group === groups[i])
  return isSame && nowMs - old.observedAtMs < observedAgainAfterMs
}

function toStored({ provider, groups, observedAtMs }: ProviderGroups): object {
  return { provider, groups, observedAt: new Date(observedAtMs).toISOString().replace(/\.\d+Z$/, 'Z') }
}
