import { isStatus } from '../../apierrors/status.ts'
import type { Identity } from '../../apirequest/identity/identity.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { type RequestInfo, toResourceInfo } from '../../apirequest/request-info.ts'
import type { AuthorizeRequest } from '../../authz/authorize-request.ts'
import { assertMayUpgrade, assertMayUseMember } from '../../authz/token-scope.ts'
import type { Config } from '../../config/config.ts'
import { sendJson } from '../../httpserver/response/respond.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { ListPage } from '../../kubeclient/list/list-page.ts'
import { readJson } from '../../platformapi/write/json-body.ts'
import { MemberClusters } from '../../proxy/members/member-clusters.ts'
import type { MemberListLimits } from '../../proxy/members/member-list.ts'
import type { SessionRecording } from '../../proxy/session-recording.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { Auth } from './auth/auth.ts'

/** The functions with which the handler chain serves an authenticated request. */
type ServedRequests = {
  readonly attributesOf: (exchange: AuthenticatedExchange) => Promise<RequestInfo> | RequestInfo
  readonly authorize: AuthorizeRequest
  readonly isProxied: (exchange: AuthenticatedExchange) => boolean
  readonly route: Handler
  readonly upgrade: Handler
}

export type Members = {
  /** Returns functions that serve requests in member clusters, and pass all others to `host`. */
  readonly over: (host: ServedRequests) => ServedRequests
  /** Returns the names of all clusters except `host`. @throws Status 503 */
  readonly names: () => readonly string[]
  /** Returns the names of the clusters that a caller may use. @throws Status 503 */
  readonly usable: (identity: Identity) => Promise<readonly string[]>
  /** Authorizes a request in a member cluster. @throws Status 403 */
  readonly authorize: (exchange: AuthenticatedExchange) => Promise<void> | void
  /** Reads the list of the platform API in a member cluster that a request names. @throws Status */
  readonly list: (exchange: AuthenticatedExchange, limits: MemberListLimits) => Promise<ListPage>
  readonly start: () => void
  readonly stop: () => void
}

/**
 * Wires the member clusters. A request in a member cluster requires the permission `proxy` on its
 * Cluster in this cluster. The member then authorizes the request itself, as its caller. No other
 * API handles such a request.
 */
export function createMembers(parts: {
  readonly client: KubeClient
  readonly config: Config
  readonly access: Pick<Auth, 'authorize'>
  readonly recordings: Pick<SessionRecording, 'assertNotBypassed'>
  readonly logger: Logger
}): Members {
  const { client, config, access, recordings, logger } = parts
  const { groupDomain, kubernetes } = config
  const clusters = new MemberClusters({ client, groupDomain, namespace: kubernetes.namespace, logger })
  const rightOf = ({ cluster }: Pick<RequestInfo, 'cluster'>) =>
    toResourceInfo({
      verb: 'proxy',
      group: `cluster.${groupDomain}`,
      version: 'v1alpha1',
      resource: 'clusters',
      name: cluster,
    })
  function authorize(exchange: AuthenticatedExchange) {
    const { info, identity, upgrade } = exchange
    assertMayUseMember(info, identity)
    if (upgrade !== undefined) assertMayUpgrade(info, identity)
    recordings.assertNotBypassed(exchange)
    return access.authorize(rightOf(info), identity)
  }
  async function mayUse(cluster: string, identity: Identity): Promise<boolean> {
    try {
      await access.authorize(rightOf({ cluster }), identity)
      return true
    } catch (error) {
      if (isStatus(error, 403)) return false
      throw error
    }
  }
  const validationPath = `/kapis/cluster.${groupDomain}/v1alpha1/clusters/validation`
  function route(exchange: AuthenticatedExchange, host: Handler): void | Promise<void> {
    if (isThere(exchange)) return forward(exchange)
    const { req, info } = exchange
    return req.method === 'POST' && info.path === validationPath ? validate(exchange) : host(exchange)
  }
  async function validate({ req, res }: AuthenticatedExchange): Promise<void> {
    await clusters.validate(await readJson(req, ['application/json']))
    sendJson(res, 200, { message: 'success' })
  }
  const forward: Handler = exchange => clusters.find(exchange.info.cluster).forward(exchange)
  return {
    over: host => ({
      attributesOf: exchange => (isThere(exchange) ? rightOf(exchange.info) : host.attributesOf(exchange)),
      authorize: exchange => (isThere(exchange) ? authorize(exchange) : host.authorize(exchange)),
      isProxied: exchange => isThere(exchange) || host.isProxied(exchange),
      route: exchange => route(exchange, host.route),
      upgrade: exchange => (isThere(exchange) ? forward(exchange) : host.upgrade(exchange)),
    }),
    names: () => clusters.names(),
    async usable(identity) {
      const names: string[] = []
      for (const cluster of clusters.names()) if (await mayUse(cluster, identity)) names.push(cluster)
      return names
    },
    authorize,
    list: (exchange, limits) => clusters.find(exchange.info.cluster).list(exchange, limits),
    start: () => clusters.start(),
    stop: () => clusters.stop(),
  }
}

function isThere({ info }: AuthenticatedExchange): boolean {
  return info.cluster !== ''
}
