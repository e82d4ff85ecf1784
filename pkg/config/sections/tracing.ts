import type { z } from 'zod'
import { integer, section, text } from '../option.ts'

/** The tracing endpoint, with the field names of TracingConfiguration in Kubernetes. */
export const tracing = section({
  endpoint: text({
    default: '',
    env: 'KAPIS_TRACING_ENDPOINT',
    description:
      'OTLP/HTTP (protobuf) endpoint for spans: `http://collector:4318`, to which `/v1/traces` is added, or a URL with a path. Empty: no tracing.',
  }),
  samplingRatePerMillion: integer({
    default: 0,
    min: 0,
    max: 1_000_000,
    env: 'KAPIS_TRACING_SAMPLING_RATE_PER_MILLION',
    description:
      'Number of requests traced per million, as in the TracingConfiguration of Kubernetes. For privileged callers the sampling decision of their traceparent header is used instead.',
  }),
  caFile: text({
    default: '',
    env: 'KAPIS_TRACING_CA_FILE',
    description: 'PEM file with additional CAs for the endpoint.',
  }),
}).superRefine(({ endpoint, caFile }, { addIssue }) => {
  if (endpoint !== '' && !isCollector(endpoint))
    addIssue({
      code: 'custom',
      path: ['endpoint'],
      message: 'must be an http(s) URL without user, query or fragment, such as http://collector:4318',
    })
  if (caFile !== '' && endpoint.startsWith('http:'))
    addIssue({ code: 'custom', path: ['caFile'], message: 'requires an https endpoint' })
})

export type TracingConfig = Readonly<z.output<typeof tracing>>

function isCollector(endpoint: string): boolean {
  return /^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(endpoint) && URL.canParse(endpoint)
}
