import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace'
import type { Logger } from '../logger.ts'

type Result = 'exported' | 'failed' | 'dropped'

export type CountOptions = {
  /** Maximum number of ended spans that are not exported yet. */
  readonly maxWaiting: number
  readonly count: (result: Result, spans: number) => void
  readonly logger: Pick<Logger, 'warn'>
  /** Monotonic clock, in milliseconds. */
  readonly now?: () => number
}

const logEveryMs = 60_000

/**
 * Counts exported, failed and dropped spans, and logs losses at most once a minute. OpenTelemetry
 * drops spans silently when its queue is full, so `gate`, in front of the queue, applies the same
 * limit and counts what it drops.
 */
export function countSpans(
  inner: SpanExporter,
  { maxWaiting, count, logger, now = performance.now.bind(performance) }: CountOptions,
): { readonly exporter: SpanExporter; readonly gate: (processor: SpanProcessor) => SpanProcessor } {
  let waiting = 0
  let lost = 0
  let nextLogAt = Number.NEGATIVE_INFINITY

  function lose(result: 'failed' | 'dropped', spans: number, err?: Error): void {
    count(result, spans)
    lost += spans
    if (now() < nextLogAt) return
    nextLogAt = now() + logEveryMs
    logger.warn({ err, spans: lost }, 'failed to export spans to the collector; they are lost')
    lost = 0
  }
  function countExport(spans: number, { code, error }: ExportResult): void {
    waiting -= spans
    if (code === ExportResultCode.SUCCESS) count('exported', spans)
    else lose('failed', spans, error)
  }

  return {
    exporter: {
      export(spans, done) {
        inner.export(spans, result => {
          countExport(spans.length, result)
          done(result)
        })
      },
      shutdown: () => inner.shutdown(),
    },
    gate: processor => ({
      onStart: (span, context) => processor.onStart(span, context),
      onEnd(span: ReadableSpan) {
        if (waiting >= maxWaiting) return lose('dropped', 1)
        waiting++
        processor.onEnd(span)
      },
      forceFlush: () => processor.forceFlush(),
      shutdown: () => processor.shutdown(),
    }),
  }
}
