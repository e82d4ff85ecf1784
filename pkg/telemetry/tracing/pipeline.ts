import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { withDefaultCertificates } from '../../http/ca-certificates.ts'
import { type ProxyFor, readHttpProxy } from '../../http/proxy-environment.ts'
import { counter } from '../metrics.ts'
import { countSpans } from './span-export-metrics.ts'
import type { TracingOptions } from './tracing.ts'

export type Pipeline = { readonly tracer: Tracer; readonly stop: () => Promise<void> }

/** Maximum number of unsent spans: a few megabytes while the collector does not respond. */
const maxWaiting = 8_192
const batch = { maxQueueSize: maxWaiting, maxExportBatchSize: 512, scheduledDelayMillis: 1_000 }
const exportMs = 10_000
const stopWithinMs = 5_000
/** Maximum length of an attribute value: callers can send values of any length. */
const maxValueLength = 512

/** Creates a tracer whose finished spans are exported in batches, without delaying requests. */
export function createPipeline(
  { config, program, version, logger, registry }: TracingOptions,
  proxyFor?: ProxyFor,
): Pipeline {
  const url = new URL(config.endpoint)
  if (url.pathname === '/') url.pathname = '/v1/traces'
  const proxy = readHttpProxy(url, proxyFor)
  const exporter = new OTLPTraceExporter({
    url: url.href,
    timeoutMillis: exportMs,
    httpAgentOptions: {
      keepAlive: true,
      ...(proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy.href, HTTPS_PROXY: proxy.href } }),
      ...(config.caFile === '' ? {} : { ca: withDefaultCertificates(readFileSync(config.caFile, 'utf8')) }),
    },
  })
  const spans = counter(registry, {
    name: 'kapis_tracing_spans_total',
    help: 'Sampled spans, by result: exported, failed or dropped (queue full).',
    labels: ['result'],
  })
  const counted = countSpans(exporter, { maxWaiting, logger, count: (result, n) => spans.inc({ result }, n) })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': program,
      'service.version': version,
      'service.instance.id': randomUUID(),
    }),
    // As in component-base: a continued trace keeps its decision; the rate is for new ones.
    sampler: new ParentBasedSampler({
      root: new TraceIdRatioBasedSampler(config.samplingRatePerMillion / 1_000_000),
    }),
    spanLimits: { attributeValueLengthLimit: maxValueLength },
    spanProcessors: [counted.gate(new BatchSpanProcessor({ exporter: counted.exporter, ...batch }))],
  })
  return {
    tracer: provider.getTracer('kapis', version),
    async stop() {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, stopWithinMs)
      await Promise.race([provider.shutdown().catch(() => undefined), late.promise])
      clearTimeout(timer)
    },
  }
}
