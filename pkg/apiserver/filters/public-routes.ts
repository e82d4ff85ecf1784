import type { Exchange, Handler } from '../../apirequest/request-context.ts'
import type { Config } from '../../config/config.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { LogPage } from '../../platformapi/logs/page/serve.ts'
import { createPublicDocuments } from '../../platformapi/public/documents.ts'
import { isOAuthPath } from '../../proxy/oauth-proxy.ts'
import type { Probes } from '../health/probes.ts'
import { featuresOf } from '../wiring/documents/features.ts'
import { createKubernetesVersion } from '../wiring/documents/kubernetes-version.ts'
import type { HandlerChainOptions } from './handler-chain.ts'

export type PublicRoutesOptions = {
  readonly client: KubeClient
  readonly config: Config
  readonly probes: Probes
  readonly versionInfo: object
  readonly logPage: LogPage | undefined
  /** Forwards a request to kapis-oauth. */
  readonly forward: Handler<Exchange>
}

/** Serves the routes without authentication: probes, kapis-oauth, log page, public documents. */
export function createPublicRoutes(parts: PublicRoutesOptions): HandlerChainOptions['publicRoutes'] {
  const { client, config, probes, versionInfo, logPage, forward } = parts
  const { groupDomain } = config
  const documents = createPublicDocuments({
    groupDomain,
    features: featuresOf(config),
    versionInfo,
    kubernetesVersion: createKubernetesVersion(client),
  })
  // The public configuration lists the identity providers, which only kapis-oauth knows.
  const oauthConfig = `/kapis/config.${groupDomain}/v1alpha2/configs/oauth`
  const { issuer } = config.oauth
  const isForOAuth = (path: string) =>
    isOAuthPath(path, issuer) || path === oauthConfig || path === `${oauthConfig}/`
  return {
    handles: path =>
      probes.handles(path) || isForOAuth(path) || documents.handles(path) || logPage?.handles(path) === true,
    isAudited: path => isOAuthPath(path, issuer) || logPage?.isAudited(path) === true,
    handle(exchange) {
      const { path } = exchange.info
      if (isForOAuth(path)) return forward(exchange)
      if (logPage?.handles(path)) return logPage.handle(exchange)
      return documents.handles(path) ? documents.handle(exchange) : probes.handle(exchange)
    },
  }
}
