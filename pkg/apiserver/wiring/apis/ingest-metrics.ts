import type { IngestOptions } from '../../../platformapi/logging/v1alpha2/ingest.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { counter, type Registry } from '../../../telemetry/metrics.ts'

const lineLogMs = 60_000

/** Counts received log lines, and logs at most once per minute how many were changed or rejected. */
export function createIngestMetrics(registry: Registry, logger: Logger): IngestOptions['observe'] {
  const ingested = counter(registry, {
    name: 'kapis_logs_ingested_lines_total',
    help: 'Log lines received, by protocol and result.',
    labels: ['protocol', 'result'],
  })
  const changedLines = counter(registry, {
    name: 'kapis_logs_changed_lines_total',
    help: 'Log lines stored with truncated or omitted parts, by protocol and kind of change.',
    labels: ['protocol', 'change'],
  })
  const rejectedLines = counter(registry, {
    name: 'kapis_logs_refused_lines_total',
    help: 'Log lines that the store rejected, by protocol and reason: their time, or the quota of their namespace.',
    labels: ['protocol', 'reason'],
  })
  const logChanges = createLineLog(lines =>
    logger.warn({ lines }, 'log lines exceeded a limit and were stored with changes'),
  )
  const logRejections = createLineLog(lines =>
    logger.warn({ lines }, 'log lines were rejected for their time or the quota of their namespace'),
  )
  return (protocol, { stored, rejected, changed, causes = {} }) => {
    for (const [change, lines] of Object.entries(changed)) changedLines.inc({ protocol, change }, lines)
    logChanges(changed)
    for (const [reason, lines] of Object.entries(causes)) rejectedLines.inc({ protocol, reason }, lines)
    logRejections(causes)
    ingested.inc({ protocol, result: 'taken' }, stored)
    ingested.inc({ protocol, result: 'refused' }, rejected)
  }
}

/** Sums the numbers of lines by kind of change, and reports them at most once per minute. */
function createLineLog(
  report: (lines: Readonly<Record<string, number>>) => void,
): (counts: Readonly<Partial<Record<string, number>>>) => void {
  const sums = new Map<string, number>()
  let reportedAt = Number.NEGATIVE_INFINITY
  return counts => {
    for (const [what, lines = 0] of Object.entries(counts)) sums.set(what, (sums.get(what) ?? 0) + lines)
    const now = performance.now()
    if (sums.size === 0 || now < reportedAt + lineLogMs) return
    reportedAt = now
    report(Object.fromEntries(sums))
    sums.clear()
  }
}
