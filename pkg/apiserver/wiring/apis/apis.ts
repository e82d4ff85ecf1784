import { toResourceInfo } from '../../../apirequest/request-info.ts'
import { reviewAccess } from '../../../authz/subject-access-review.ts'
import { isForHost } from '../../../certs/renewal-reason.ts'
import type { ServingCertificates } from '../../../certs/serving-certificates.ts'
import type { Config, Secrets } from '../../../config/config.ts'
import type { ClientAddress } from '../../../httpserver/request/client-address.ts'
import { withServiceAccountErrors } from '../../../kubeclient/errors/service-account-errors.ts'
import { createOperations, type Operations } from '../../../platformapi/operations/v1alpha2/serve.ts'
import type { CollectList } from '../../../platformapi/subrequests/subrequest.ts'
import { createTerminal, type Terminal } from '../../../platformapi/terminal/v1alpha2/serve.ts'
import { withAuditOfWrites } from '../../../platformapi/write/audited-calls.ts'
import type { DeletedPodLogs } from '../../../proxy/kube-apiserver-proxy.ts'
import type { WatchBroadcaster } from '../../../resourcecache/watch/watch-broadcaster.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Registry } from '../../../telemetry/metrics.ts'
import type { Tracing } from '../../../telemetry/tracing/tracing.ts'
import type { Check } from '../../health/probes.ts'
import type { Auth } from '../auth/auth.ts'
import type { KubeApiserver } from '../kube-apiserver.ts'
import type { Rbac } from '../rbac.ts'
import { createAccessReviews } from './access-reviews.ts'
import { createCallAs, createCallAsKapis, createOpenExec } from './caller-client.ts'
import { createComponents, type RunningComponents } from './components.ts'
import { createIam, type Iam } from './iam.ts'
import { createLogs, type Logs } from './logs.ts'
import { createResources, type Resources } from './resources.ts'
import { createTenant, type Tenant } from './tenant.ts'

/** The APIs that Kapis serves, each of which is wired in a separate file. */
export type Apis = {
  readonly proxy: ReturnType<KubeApiserver['proxy']>
  readonly resources: Resources
  readonly logs: Logs
  readonly tenant: Tenant
  readonly iam: Iam
  readonly terminal: Terminal
  readonly operations: Operations
  readonly components: RunningComponents
  readonly checks: readonly Check[]
  /** Starts everything except the resource cache, whose start reports when it has synced. */
  readonly start: () => void
  readonly stop: () => void
}

export type ApisOptions = {
  readonly kubeApiserver: KubeApiserver
  readonly config: Config
  readonly secrets: Secrets
  readonly live: () => Config
  readonly logger: Logger
  readonly registry: Registry
  readonly tracing: Tracing
  readonly clientAddress: ClientAddress
  readonly rbac: Rbac
  readonly access: Auth
  readonly certificates: Pick<ServingCertificates, 'current'>
  readonly broadcaster: WatchBroadcaster
  /** Lists a kind as a part of another request. */
  readonly collect: CollectList
  /** Returns the names of the member clusters; undefined if Kapis serves none. @throws Status 503 */
  readonly memberNames: () => readonly string[] | undefined
}

export async function createApis(options: ApisOptions): Promise<Apis> {
  const { kubeApiserver, config, secrets, live, logger, registry, tracing, clientAddress } = options
  const { rbac, access, certificates, broadcaster } = options
  const { client } = kubeApiserver
  const { bindings, narrowed } = rbac
  const { groupDomain } = config
  const deletedPodLogs: DeletedPodLogs = {
    asks: exchange => logs.deletedPodLogs.asks(exchange),
    respond: exchange => logs.deletedPodLogs.respond(exchange),
  }
  const toKube = kubeApiserver.proxy(deletedPodLogs)
  const proxy: typeof toKube = exchange => {
    logs.recordings.assertNotBypassed(exchange)
    return toKube(exchange)
  }
  const resources = createResources({
    ...{ client, config, live, logger, registry, broadcaster, proxy },
    grants: bindings.of('any'),
    reader: bindings.reader(),
    tasks: rbac.tasks,
    narrowedTo: narrowed.of,
    collect: options.collect,
    onClusterChange: listener => bindings.onClusterChange(listener),
    reviews: createAccessReviews({ client, config, access, bindings }),
    requirePermission: access.requirePermission,
    caPem() {
      const { certPem, bundlePem } = certificates.current()
      return isForHost(certPem, new URL(config.oauth.issuer).hostname) ? bundlePem : undefined
    },
    isUser: name => access.users.get(name) !== undefined,
  })
  const logs = await createLogs({
    ...{ client, config, live, secrets, logger, registry, bindings, clientAddress },
    rbacCheck: rbac.rbacCheck,
    authorize: access.authorize,
    watchNamespaces: handler => resources.watch('/api/v1/namespaces', handler),
  })
  const searches = logs.apis.get(`tenant.${groupDomain}/v1alpha2`)
  if (searches === undefined) throw new Error('missing log queries of the tenant API group')
  const callAs = withAuditOfWrites(createCallAs(client), { logger, clientAddress })
  const callAsKapis = withAuditOfWrites(createCallAsKapis(client), {
    ...{ logger, clientAddress, account: 'kapis' },
  })
  const tenant = createTenant({
    ...{ groupDomain, callAs, callAsKapis, searches },
    ownNamespace: config.kubernetes.namespace,
    isAllowedNow: async (identity, permission) =>
      (await reviewAccess(client, toResourceInfo(permission), identity)).isAllowed,
    created: (exchange, where) => iam.giveIn(exchange, where),
    addManager: (exchange, of) => iam.addManager(exchange, of),
    narrowed: resources.narrowed,
    users: access.users,
    requirePermission: access.requirePermission,
    memberNames: options.memberNames,
    items: resources.items,
  })
  const iam = await createIam({
    ...{ config, clientAddress, access, callAs, logger, registry },
    client: withServiceAccountErrors(client),
    views: resources.views,
    list: resources.items,
    rest: resources.generic,
  })
  const terminal = createTerminal({
    groupDomain,
    openExec: createOpenExec(kubeApiserver.openChannels, logs.recordings),
  })
  const operations = createOperations({ groupDomain, callAs })
  const components = createComponents({ client, config, logger, tracing })
  return {
    ...{ proxy, resources, logs, tenant, iam, terminal, operations, components },
    checks: [...resources.checks, ...access.checks],
    start() {
      for (const part of [components, iam, logs]) part.start()
    },
    stop() {
      for (const part of [components, resources, iam]) part.stop()
    },
  }
}
