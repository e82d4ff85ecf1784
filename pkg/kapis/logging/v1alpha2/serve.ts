import { allOf, isOneOf } from '../../../logs/expression.ts'
import type { Handler } from '../../../request/exchange.ts'
import { unknownResource } from '../../../status/status.ts'
import type { LogFace } from '../../logs/serve.ts'

export type LoggingFaceOptions = {
  readonly groupDomain: string
  readonly logs: LogFace
  readonly ingest: Handler
}

/**
 * `/kapis/logging.<group domain>/v1alpha2`: the log API scoped by path, and ingest.
 *
 * @throws Status 404; for paths of the platform's version 2 it names what took their place
 */
export function createLoggingFace({ groupDomain, logs, ingest }: LoggingFaceOptions): Handler {
  return exchange => {
    const { parts } = exchange.info
    const [first, namespace = '', second, pod = '', third, container = ''] = parts
    if (first === 'ingest') return ingest(exchange)
    if (first === 'cluster' && parts.length === 1) return logs(exchange)
    const isContainer = second === 'pods' && third === 'containers' && parts.length === 6
    if (first === 'namespaces' && isContainer) {
      const place = allOf([
        isOneOf('namespace', [namespace]),
        isOneOf('pod', [pod]),
        isOneOf('container', [container]),
      ])
      return logs(exchange, place)
    }
    throw unknownResource(replacementOf(parts, groupDomain))
  }
}

function replacementOf(parts: readonly string[], groupDomain: string): string | undefined {
  const [first, namespace, second, name] = parts
  const query = `use /kapis/tenant.${groupDomain}/v1alpha2/logs`
  if (first === 'fluentbit') {
    return `log settings are no longer served here: configure Fluent Bit itself to send to /kapis/logging.${groupDomain}/v1alpha2/ingest`
  }
  if (first === 'workspaces' && parts.length === 2) {
    return `logs by workspace are no longer served here: ${query}?namespaces= with the namespaces of the workspace`
  }
  if (first !== 'namespaces' || namespace === undefined) return undefined
  const places: Readonly<Record<string, string>> = { workloads: 'workloads', pods: 'pods' }
  const parameter = places[second ?? '']
  if (parts.length === 2)
    return `logs by namespace are no longer served here: ${query}?namespaces=${namespace}`
  if (parts.length !== 4 || parameter === undefined) return undefined
  return `logs by ${parameter.slice(0, -1)} are no longer served here: ${query}?namespaces=${namespace}&${parameter}=${name}`
}
