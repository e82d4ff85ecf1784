import { createAccountLinking } from '../../iam/identityprovider/linking/account-linking.ts'
import { createGroupReconciler } from '../../iam/identityprovider/linking/group-reconciler.ts'
import { createLinker } from '../../iam/identityprovider/linking/link-writer.ts'
import { createGroupWriter } from '../../iam/identityprovider/linking/provider-groups.ts'
import { createRegistrar } from '../../iam/identityprovider/linking/registration.ts'
import { createProviderClient } from '../../iam/identityprovider/provider-client.ts'
import { createProviderReconciler } from '../../iam/identityprovider/provider-reconciler.ts'
import { ProviderStore } from '../../iam/identityprovider/provider-store.ts'
import { createProviderMetrics } from '../../iam/identityprovider/provider-usable-metric.ts'
import type { ProviderTools } from '../provider-login.ts'
import type { Accounts } from './accounts.ts'
import type { Dependencies } from './dependencies.ts'

/** Creates the store of identity providers, and the services that link their users and groups. */
export function createIdentityProviders(
  { config, logger, client, metricsRegistry }: Dependencies,
  { users, sessions }: Pick<Accounts, 'users' | 'sessions'>,
) {
  const { groupDomain } = config
  const store: ProviderStore = new ProviderStore({
    client,
    groupDomain,
    namespace: config.kubernetes.namespace,
    logger,
    createProviderClient,
    onChange: () =>
      void keeper
        .check()
        .catch(err => logger.warn({ err }, 'failed to end the logins of an identity provider, retrying')),
  })
  const keeper = createProviderReconciler({ providers: store, sessions, logger })
  createProviderMetrics(metricsRegistry, () => store.entries())
  const putGroups = createGroupWriter(client, groupDomain)
  const groupKeeper = createGroupReconciler({ providers: store, users, sessions, putGroups, logger })
  const tools: ProviderTools = {
    store,
    ...createAccountLinking({
      users,
      registrar: createRegistrar({ client, groupDomain, users, logger }),
      link: createLinker({ client, groupDomain, users, logger }),
      putGroups,
      logger,
    }),
    failed: (provider, err) => logger.warn({ provider, err }, 'login with an identity provider failed'),
  }
  return {
    store,
    tools,
    /** Ends the logins of changed providers. */
    reconcile: () => keeper.check(),
    reconcileGroups: (signal: AbortSignal) => groupKeeper.sweep(signal),
  }
}
