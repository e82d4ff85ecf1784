import { createApiDocuments } from '../../apidocs/documents.ts'
import { createDocsPage } from '../../apidocs/page.ts'
import type { Exchange, Handler } from '../../apirequest/request-context.ts'
import { assertMayUpgrade } from '../../authz/token-scope.ts'
import type { Config } from '../../config/config.ts'
import type { ClientAddress } from '../../httpserver/request/client-address.ts'
import { iamVersion } from '../../iam/users/user.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { createOAuthForward, type OAuthForwardOptions } from '../../proxy/oauth-proxy.ts'
import { resourcesGroup, resourcesVersion } from '../../resourcecache/kinds.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Registry } from '../../telemetry/metrics.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'
import { createProfiles } from '../server/profiles.ts'
import { type BuildInfo, toVersionInfo } from '../server/version.ts'
import type { Apis } from './apis/apis.ts'
import { describeApi } from './documents/api-description.ts'
import { createOAuthMetricsProxy } from './documents/oauth-metrics-proxy.ts'
import type { KubeApiserver } from './kube-apiserver.ts'
import { createRouter, type DocumentRoute, type Router } from './path-router.ts'
import type { Rbac } from './rbac.ts'
import type { Subrequests } from './subrequests.ts'

export type Routes = Router & { readonly upgrade: Handler }

// A profile takes up to a minute before the response begins.
const profileSilenceMs = 90_000

/** Wires the router with the APIs and the documents of kapis-apiserver itself. */
export function createRoutes(parts: {
  readonly apis: Apis
  /** The platform API of resources, including requests that consist of subrequests. */
  readonly subrequests: Pick<Subrequests, 'platform'>
  readonly kubeApiserver: KubeApiserver
  readonly config: Config
  readonly build: BuildInfo
  readonly logger: Logger
  readonly registry: Registry
  readonly rbac: Pick<Rbac, 'narrowed'>
  readonly forward: ForwardToOAuth
  readonly ownDocuments: readonly DocumentRoute[]
}): Routes {
  const { apis, subrequests, kubeApiserver, config, build, logger, registry, rbac, forward, ownDocuments } =
    parts
  const { resources, logs, tenant, iam, terminal, operations, components } = apis
  const { groupDomain } = config
  const group = resourcesGroup(groupDomain)
  const router = createRouter({
    group,
    version: resourcesVersion,
    aggregated: resources.aggregated,
    platform: new Map([
      ...logs.apis,
      [`${group}/${resourcesVersion}`, subrequests.platform],
      [`${group}/v1alpha2`, resources.v1alpha2],
      [`iam.${groupDomain}/${iamVersion}`, iam.serve],
      [`tenant.${groupDomain}/v1alpha2`, tenant.v1alpha2],
      [`tenant.${groupDomain}/v1alpha3`, tenant.v1alpha3],
      [`terminal.${groupDomain}/v1alpha2`, terminal.serve],
      [`operations.${groupDomain}/v1alpha2`, operations.serve],
    ]),
    componentApi: components.find,
    generic: resources.generic,
    documents: resources.documents,
    ownDocuments: [
      ...createApiDocs(kubeApiserver.client, config, build.version),
      createProfiles(logger, forward({ silenceMs: profileSilenceMs, errors: 'status' })),
      ...ownDocuments,
      createOAuthMetricsProxy(forward({ path: '/metrics', errors: 'status' })),
    ],
    proxy: exchange => iam.servePatchOfOwn(exchange) ?? apis.proxy(exchange),
    registry,
    versionInfo: toVersionInfo(build),
    narrowing: new Set([resources.aggregated, subrequests.platform, resources.generic]),
    isNarrowed: exchange => rbac.narrowed.of(exchange) !== undefined,
  })
  const upgradeAtKube = kubeApiserver.upgrade(logs.recordings)
  return {
    ...router,
    async upgrade(exchange) {
      if (router.isProxied(exchange)) {
        assertMayUpgrade(exchange.info, exchange.identity)
        logs.recordings.assertNotBypassed(exchange)
        return upgradeAtKube(exchange)
      }
      if (!(await components.upgrade(exchange))) await router.route(exchange)
    },
  }
}

function createApiDocs(client: KubeClient, config: Config, version: string): readonly DocumentRoute[] {
  const sections = describeApi(config.groupDomain)
  const readIndex = () => client.call({ path: '/openapi/v3' })
  return [
    createApiDocuments({ sections, version, readIndex }),
    createDocsPage({ sections, product: config.oauth.productName, version }),
  ]
}

/** Creates a handler that forwards requests to kapis-oauth. */
export type ForwardToOAuth = (
  how: Pick<OAuthForwardOptions, 'silenceMs' | 'path' | 'errors'>,
) => Handler<Exchange>

export function createForwardToOAuth(parts: {
  readonly socket: string
  readonly tracing: Tracing
  readonly clientAddress: ClientAddress
  readonly logger: Logger
}): ForwardToOAuth {
  const { socket, tracing, clientAddress, logger } = parts
  const peer = { name: 'kapis-oauth', socket }
  return how => tracing.upstream(peer, createOAuthForward({ socket, clientAddress, logger, ...how }))
}
