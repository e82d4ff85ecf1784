import type { Logger } from '../../telemetry/logger.ts'
import { type EndableSessions, endLogin } from '../sessions/revoke-session.ts'
import type { Session } from '../sessions/session.ts'

/** The state of a provider by its Secrets; `unknown` if only an invalid Secret may belong to it. */
export type ProviderState = 'usable' | 'disabled' | 'gone' | 'unknown'

export type ProviderReconcilerOptions = {
  readonly providers: {
    readonly isReady: boolean
    /** Returns the state according to the watch. */
    readonly stateOf: (name: string) => ProviderState
    /** Reads the current states from kube-apiserver. */
    readonly readStates: () => Promise<(name: string) => ProviderState>
  }
  readonly sessions: EndableSessions & { readonly all: () => Iterable<Session> }
  readonly logger: Logger
}

export type ProviderReconciler = {
  /** Ends logins. Must be called after changes and periodically; safe on every replica. */
  readonly check: () => Promise<void>
}

const reasons: Partial<Record<ProviderState, string>> = {
  gone: 'identity provider removed',
  disabled: 'identity provider disabled',
}

/**
 * Ends the logins of identity providers that were removed or disabled. The end is stored: the
 * logins stay ended on all replicas even if the provider is added again. An invalid Secret ends no
 * logins, since it may be fixed soon.
 */
export function createProviderReconciler({
  providers,
  sessions,
  logger,
}: ProviderReconcilerOptions): ProviderReconciler {
  const open = () => [...sessions.all()].filter(({ provider, ended }) => provider !== '' && ended === '')

  return {
    async check() {
      if (!providers.isReady) return
      const found = open().filter(({ provider }) => reasons[providers.stateOf(provider)] !== undefined)
      if (found.length === 0) return
      // The watch may deliver a login before its provider, so only kube-apiserver shows whether the
      // provider was removed.
      const stateOf = await providers.readStates()
      for (const session of found) {
        const why = reasons[stateOf(session.provider)]
        if (why === undefined || !(await endLogin(sessions, session, why))) continue
        const { user, sid, provider } = session
        logger.info({ audit: 'session', user, sid, provider, reason: why }, 'login ended')
      }
    },
  }
}
