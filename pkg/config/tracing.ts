import { type Fields, integer, text } from './fields.ts'

/** Where spans go; an empty endpoint is nowhere, and nothing is traced. Named as in Kubernetes' TracingConfiguration. */
export type TracingConfig = {
  /** OTLP over HTTP. */
  readonly endpoint: string
  readonly samplingRatePerMillion: number
  readonly caFile: string
}

export const tracingMembers = ['endpoint', 'samplingRatePerMillion', 'caFile']

export function parseTracing(fields: Fields): TracingConfig {
  const endpoint = text(fields, 'endpoint', { default: '' })
  if (endpoint !== '' && !isCollector(endpoint))
    fields.problem(
      'endpoint',
      'must be an http(s) URL without user, query or fragment, such as http://collector:4318',
    )
  const caFile = text(fields, 'caFile', { default: '' })
  if (caFile !== '' && endpoint.startsWith('http:')) fields.problem('caFile', 'needs an https endpoint')
  return {
    endpoint,
    samplingRatePerMillion: integer(fields, 'samplingRatePerMillion', { default: 0, min: 0, max: 1_000_000 }),
    caFile,
  }
}

function isCollector(endpoint: string): boolean {
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(endpoint)) return false
  return URL.canParse(endpoint)
}
