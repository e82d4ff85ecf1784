import { Status } from '../../../apierrors/status.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { type EndableSessions, endLogin } from '../../sessions/revoke-session.ts'
import type { Session } from '../../sessions/session.ts'
import type { User } from '../../users/user.ts'
import type { UserLink } from '../../users/user-link.ts'
import type { Provider, ProviderEntry } from '../provider-store.ts'
import { type GroupWriter, readGroups } from './provider-groups.ts'

export type GroupReconcilerOptions = {
  readonly providers: {
    readonly isReady: boolean
    readonly get: (name: string) => Provider | undefined
    readonly entries: () => Iterable<ProviderEntry>
  }
  readonly users: {
    readonly all: () => Iterable<User>
    readonly get: (name: string) => User | undefined
    readonly linksOf: (name: string) => readonly UserLink[]
  }
  readonly sessions: EndableSessions & { readonly all: () => Iterable<Session> }
  readonly putGroups: GroupWriter
  readonly logger: Logger
}

export type GroupReconciler = {
  /** Checks every linked user. Safe to run on every replica. */
  readonly sweep: (signal: AbortSignal, nowMs?: number) => Promise<void>
}

type ProviderAccount = { readonly user: User; readonly provider: string }

/**
 * Removes groups that providers no longer report. LDAP servers are queried: users lose groups that
 * they have left, and deleted accounts lose their logins. Other providers only report groups during
 * a login, so their groups expire after `groupsMaxAge`. Groups of a removed link or provider are
 * removed too.
 */
export function createGroupReconciler(options: GroupReconcilerOptions): GroupReconciler {
  const { providers, users, sessions, putGroups, logger } = options

  /** Yields each pair of user and provider with groups or active logins. */
  function* bonds(): Iterable<ProviderAccount> {
    const seen = new Set<string>()
    for (const user of users.all()) {
      for (const { provider } of user.providerGroups) {
        seen.add(`${provider} ${user.name}`)
        yield { user, provider }
      }
    }
    for (const { user: name, provider, ended } of sessions.all()) {
      const user = provider === '' || ended !== '' ? undefined : users.get(name)
      const key = `${provider} ${name}`
      if (user === undefined || seen.has(key)) continue
      seen.add(key)
      yield { user, provider }
    }
  }

  async function endLogins({ user, provider }: ProviderAccount): Promise<void> {
    for (const session of [...sessions.all()]) {
      if (session.user !== user.name || session.provider !== provider || session.ended !== '') continue
      if (await endLogin(sessions, session, 'removed at the identity provider'))
        logger.info({ audit: 'session', user: user.name, sid: session.sid, provider }, 'login ended')
    }
  }

  /**
   * Updates the groups of a user from the LDAP server.
   *
   * @returns `known` after an update, `refused` if the entry was rejected, `down` if the server is
   * not responding or not an LDAP server
   */
  async function readProviderGroups(
    bond: ProviderAccount,
    { config, client }: Provider,
    uid: string,
    signal: AbortSignal,
  ): Promise<'known' | 'refused' | 'down'> {
    if (client.kind !== 'password' || client.find === undefined) return 'down'
    try {
      const identity = await client.find(uid, signal)
      if (identity?.groups === 'unknown') return 'refused'
      if (identity === undefined) await endLogins(bond)
      const { groups } = readGroups(identity?.groups ?? [], config.groupsPrefix)
      await putGroups(bond.user, bond.provider, groups)
      return 'known'
    } catch (err) {
      logger.warn({ user: bond.user.name, provider: bond.provider, err }, "failed to read a user's groups")
      return err instanceof Status && err.code < 500 ? 'refused' : 'down'
    }
  }

  async function check(
    bond: ProviderAccount,
    down: Set<string>,
    { signal, nowMs }: { signal: AbortSignal; nowMs: number },
  ) {
    const { user, provider: name } = bond
    const provider = providers.get(name)
    const link = users.linksOf(user.name).find(each => each.provider === name)
    // A Secret with unreadable content may belong to any provider, including this one.
    const isBroken = [...providers.entries()].some(entry => entry.provider === undefined)
    if (link === undefined || (provider === undefined && !isBroken)) {
      await putGroups(user, name, [])
      return
    }
    if (provider !== undefined && !down.has(name) && provider.client.kind === 'password') {
      const outcome = await readProviderGroups(bond, provider, link.uid, signal)
      if (outcome === 'known') return
      if (outcome === 'down') down.add(name)
    }
    const maxAgeMs = (provider?.config.groupsMaxAgeSeconds ?? 0) * 1000
    const observedAtMs = user.providerGroups.find(each => each.provider === name)?.observedAtMs
    if (provider !== undefined && observedAtMs !== undefined && nowMs - observedAtMs > maxAgeMs)
      await putGroups(user, name, [])
  }

  return {
    async sweep(signal, nowMs = Date.now()) {
      if (!providers.isReady) return
      const down = new Set<string>()
      for (const bond of [...bonds()]) {
        signal.throwIfAborted()
        await check(bond, down, { signal, nowMs })
      }
    },
  }
}
