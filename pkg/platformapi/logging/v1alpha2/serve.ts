import { unknownResource } from '../../../apierrors/status.ts'
import type { Handler } from '../../../apirequest/request-context.ts'
import { allOf, isOneOf } from '../../../logs/filter/expression.ts'
import { routeOf } from '../../../openapi/route.ts'
import type { LogApi } from '../../logs/serve.ts'
import type { loggingPaths } from './description.ts'

export type LoggingApiOptions = {
  readonly groupDomain: string
  readonly logs: LogApi
  readonly logsql: Handler
  readonly ingest: Handler
  readonly recordings: Handler
}

/**
 * Serves `/kapis/logging.<group domain>/v1alpha2`: the log API scoped by path, ingest, and recorded
 * sessions.
 *
 * @throws Status 404, for paths of KubeSphere's log API v2 with the paths that replace them
 */
export function createLoggingApi({
  groupDomain,
  logs,
  logsql,
  ingest,
  recordings,
}: LoggingApiOptions): Handler {
  const ofContainer: Handler = exchange => {
    const [, namespace = '', , pod = '', , container = ''] = exchange.info.parts
    const origin = { namespace, pod, container }
    const fields = ['namespace', 'pod', 'container'] as const
    return logs(exchange, allOf(fields.map(field => isOneOf(field, [origin[field]]))))
  }
  const routes: Readonly<Record<keyof typeof loggingPaths, Handler>> = {
    '/cluster': exchange => logs(exchange),
    '/namespaces/{namespace}/pods/{pod}/containers/{container}': ofContainer,
    '/sessionrecordings': recordings,
    '/sessionrecordings/{name}': recordings,
    '/namespaces/{namespace}/sessionrecordings': recordings,
    '/namespaces/{namespace}/sessionrecordings/{name}': recordings,
    '/select/logsql/{endpoint}': logsql,
    '/ingest': ingest,
    '/ingest/_bulk': ingest,
    '/ingest/{index}/_bulk': ingest,
    '/ingest/{index}/_doc': ingest,
    '/ingest/{index}/_doc/{id}': ingest,
    '/ingest/{index}/_create/{id}': ingest,
    '/ingest/jsonlines': ingest,
    '/ingest/v1/logs': ingest,
    '/ingest/loki/api/v1/push': ingest,
  }
  return exchange => {
    const { parts } = exchange.info
    // All paths below `ingest`: Elasticsearch clients also request others than the routes.
    const serve = parts[0] === 'ingest' ? ingest : routeOf(routes, parts)
    if (serve === undefined) throw unknownResource(replacementOf(parts, groupDomain))
    return serve(exchange)
  }
}

function replacementOf(parts: readonly string[], groupDomain: string): string | undefined {
  const [first, namespace, second, name] = parts
  const query = `/kapis/tenant.${groupDomain}/v1alpha2/logs`
  if (first === 'fluentbit') {
    return `log settings are no longer served here: configure Fluent Bit itself to send to /kapis/logging.${groupDomain}/v1alpha2/ingest`
  }
  if (first === 'workspaces' && parts.length === 2) {
    return `logs by workspace are no longer served here: use ${query}?namespaces= with the namespaces of the workspace`
  }
  if (first !== 'namespaces' || namespace === undefined) return undefined
  const parameter = second === 'workloads' || second === 'pods' ? second : undefined
  if (parts.length === 2)
    return `logs by namespace are no longer served here: use ${query}?namespaces=${namespace}`
  if (parts.length !== 4 || parameter === undefined) return undefined
  return `logs by ${parameter.slice(0, -1)} are no longer served here: use ${query}?namespaces=${namespace}&${parameter}=${name}`
}
