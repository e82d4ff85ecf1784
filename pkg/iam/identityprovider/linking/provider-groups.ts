import { unavailable } from '../../../apierrors/status.ts'
import { type KubeClient, mergePatch } from '../../../kubeclient/client.ts'
import { parseObject } from '../../../kubeclient/object/object.ts'
import { retryOnConflict } from '../../../kubeclient/retry.ts'
import { type ProviderGroups, toUser, type User, userPath } from '../../users/user.ts'
import { groupProblem } from '../../users/user-validation.ts'
import { loginError } from './login-error.ts'

const maxGroups = 256
// Unchanged groups are only written again to update the time when they were observed.
const observedAgainAfterMs = 3_600_000

export type ReadGroups = {
  /** The valid groups with the prefix, sorted and without duplicates. */
  readonly groups: readonly string[]
  /** The groups that cannot be used, with the prefix: reserved, or changed by normalization. */
  readonly ignored: readonly string[]
}

/**
 * Validates the groups that a provider returns for a user.
 *
 * @throws Status if there are too many groups: a subset would grant arbitrary permissions
 */
export function readGroups(returned: readonly string[], prefix: string): ReadGroups {
  const all = [...new Set(returned)].map(group => ({ name: `${prefix}${group}`, isEmpty: group === '' }))
  const isValid = ({ name, isEmpty }: (typeof all)[number]) => !isEmpty && groupProblem(name) === undefined
  const namesOf = (entries: typeof all) => entries.map(({ name }) => name).sort()
  const groups = namesOf(all.filter(isValid))
  if (groups.length > maxGroups)
    throw loginError(
      'too_many_groups',
      `the identity provider returned ${groups.length} groups; at most ${maxGroups} are allowed`,
    )
  return { groups, ignored: namesOf(all.filter(entry => !isValid(entry))) }
}

export type GroupWriter = (
  user: User,
  provider: string,
  groups: readonly string[],
  nowMs?: number,
) => Promise<User>

/**
 * Stores the groups from a provider in the status of the user. A group that is removed there
 * disappears from all tokens of the user on all replicas with the next watch event; groups of a
 * login would not. In the spec, they would look like groups that an administrator has assigned.
 *
 * @returns the updated user
 */
export function createGroupWriter(client: KubeClient, groupDomain: string): GroupWriter {
  /** @throws Status 409 if the user was changed in the meantime */
  async function write(user: User, observed: ObservedGroups): Promise<User> {
    const path = userPath(groupDomain, user.name)
    const object = parseObject(await client.call({ path }))
    const current = toUser(object)
    if (current.uid !== user.uid) throw unavailable('the user is being updated concurrently')
    if (isSettled(current.providerGroups, observed)) return current
    const { provider, groups, nowMs } = observed
    const others = current.providerGroups.filter(each => each.provider !== provider)
    const all = groups.length === 0 ? others : [...others, { provider, groups, observedAtMs: nowMs }]
    const body = {
      metadata: { resourceVersion: object.metadata.resourceVersion },
      status: { providerGroups: all.map(toStored) },
    }
    return toUser(parseObject(await client.call(mergePatch(`${path}/status`, body))))
  }

  return async (user, provider, groups, nowMs = Date.now()) => {
    const observed = { provider, groups, nowMs }
    if (isSettled(user.providerGroups, observed)) return user
    return retryOnConflict(() => write(user, observed), 'the user is being updated concurrently')
  }
}

type ObservedGroups = {
  readonly provider: string
  readonly groups: readonly string[]
  readonly nowMs: number
}

function isSettled(known: readonly ProviderGroups[], { provider, groups, nowMs }: ObservedGroups): boolean {
  const old = known.find(each => each.provider === provider)
  if (old === undefined) return groups.length === 0
  const isSame = old.groups.length === groups.length && old.groups.every((group, i) => group === groups[i])
  return isSame && nowMs - old.observedAtMs < observedAgainAfterMs
}

function toStored({ provider, groups, observedAtMs }: ProviderGroups): object {
  return { provider, groups, observedAt: new Date(observedAtMs).toISOString().replace(/\.\d+Z$/, 'Z') }
}
