import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import {
  NoopSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { expect } from 'chai'
import { countSpans } from './span-export-metrics.ts'

describe('countSpans', () => {
  function create(maxWaiting: number) {
    const counts: Record<string, number> = {}
    const warnings: object[] = []
    const results: ((result: ExportResult) => void)[] = []
    let now = 0
    const inner: SpanExporter = {
      export: (_spans, done) => void results.push(done),
      shutdown: async () => undefined,
    }
    const { exporter, gate } = countSpans(inner, {
      maxWaiting,
      count(result, n) {
        counts[result] = (counts[result] ?? 0) + n
      },
      logger: { warn: (fields: object) => void warnings.push(fields) },
      now: () => now,
    })
    const passed: ReadableSpan[] = []
    const processor = gate(
      Object.assign(new NoopSpanProcessor(), { onEnd: (span: ReadableSpan) => void passed.push(span) }),
    )
    const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer('test')
    return {
      counts,
      warnings,
      passed,
      end: (n: number) => {
        for (let i = 0; i < n; i++) tracer.startSpan('a').end()
      },
      send: (result: ExportResult) => {
        exporter.export(passed.splice(0), () => undefined)
        results.shift()?.(result)
      },
      pass: (ms: number) => {
        now += ms
      },
    }
  }
  const error = new Error('connect ECONNREFUSED')

  it('counts exported, failed and dropped spans', () => {
    const { counts, passed, end, send } = create(3)
    end(2)
    send({ code: ExportResultCode.SUCCESS })
    end(5)
    expect(passed).to.have.length(3)
    send({ code: ExportResultCode.FAILED, error })
    end(1)
    expect(passed).to.have.length(1)
    expect(counts).to.deep.equal({ exported: 2, dropped: 2, failed: 3 })
  })

  it('logs once a minute how many spans are lost', () => {
    const { warnings, end, send, pass } = create(10)
    for (let i = 0; i < 120; i++) {
      end(1)
      send({ code: ExportResultCode.FAILED, error })
      pass(1_000)
    }
    expect(warnings).to.deep.equal([
      { err: error, spans: 1 },
      { err: error, spans: 60 },
    ])
  })
})
