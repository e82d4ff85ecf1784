import type { Logger } from '../../telemetry/logger.ts'
import { type EndableSessions, endLogin } from '../sessions/revoke-session.ts'
import type { Session } from '../sessions/session.ts'

/** What the Secrets say of one provider's name; unknown while one of them cannot be read and may be about it. */
export type Standing = 'usable' | 'disabled' | 'gone' | 'unknown'

export type ProviderKeeperOptions = {
  readonly providers: {
    readonly isReady: boolean
    /** As the watch has it. */
    readonly standingOf: (name: string) => Standing
    /** As kube-apiserver has it at this moment. */
    readonly readStandings: () => Promise<(name: string) => Standing>
  }
  readonly sessions: EndableSessions & { readonly all: () => Iterable<Session> }
  readonly logger: Logger
}

export type ProviderKeeper = {
  /** To be called whenever the providers have changed, and from time to time. Safe to run on every replica. */
  readonly check: () => Promise<void>
}

const reasons: Partial<Record<Standing, string>> = {
  gone: 'identity provider removed',
  disabled: 'identity provider disabled',
}

/**
 * Ends the logins that were made by an identity provider which was removed or disabled, and writes it down: what it vouched
 * for is over on every replica, and stays so if it comes back. A Secret with a mistake in it ends nothing: anyone who fixes it
 * should not have logged everybody out.
 */
export function createProviderKeeper({ providers, sessions, logger }: ProviderKeeperOptions): ProviderKeeper {
  const open = () => [...sessions.all()].filter(({ provider, ended }) => provider !== '' && ended === '')

  return {
    async check() {
      if (!providers.isReady) return
      const found = open().filter(({ provider }) => reasons[providers.standingOf(provider)] !== undefined)
      if (found.length === 0) return
      // A login may have come before the provider that it was made by: only kube-apiserver can say that this is gone.
      const standingOf = await providers.readStandings()
      for (const session of found) {
        const why = reasons[standingOf(session.provider)]
        if (why === undefined || !(await endLogin(sessions, session, why))) continue
        const { user, sid, provider } = session
        logger.info({ audit: 'session', user, sid, provider, reason: why }, 'login ended')
      }
    },
  }
}
