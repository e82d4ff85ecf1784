import { readFileSync } from 'node:fs'
import { type Auditor, createAuditor, noAuditor } from '../../audit/auditor.ts'
import { defaultPolicy, parsePolicy } from '../../audit/policy.ts'
import { AuditSink } from '../../audit/sink.ts'
import type { AuditConfig } from '../../config/sections/audit.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { counter, type Registry } from '../../telemetry/metrics.ts'

export type RunningAudit = { readonly auditor: Auditor; readonly stop: () => Promise<void> }

export type AuditParts = {
  readonly logger: Logger
  readonly registry: Registry
  /** Called with each event, a line of JSON, in addition to writing the file. */
  readonly keep?: ((event: string) => void) | undefined
}

/**
 * Opens the audit log if it is configured.
 *
 * @throws Error if the policy is invalid or the file cannot be written, so that the program does
 * not run without its audit log
 */
export async function startAudit(
  config: AuditConfig,
  { logger, registry, keep }: AuditParts,
): Promise<RunningAudit> {
  if (config.path === '') return { auditor: noAuditor, stop: async () => undefined }
  const policy = parsePolicy(
    config.policyFile === '' ? defaultPolicy : readFileSync(config.policyFile, 'utf8'),
  )
  const events = counter(registry, { name: 'apiserver_audit_event_total', help: 'Audit events created.' })
  const lost = counter(registry, {
    name: 'apiserver_audit_error_total',
    help: 'Audit events that were lost because they could not be written.',
  })
  const sink = new AuditSink({
    path: config.path,
    maxBytes: config.maxMegabytes * 1024 * 1024,
    maxBackups: config.maxBackups,
    bufferEvents: config.bufferEvents,
    logger,
    lost: count => lost.inc(count),
  })
  await sink.start()
  const counting = {
    get isFull() {
      return sink.isFull
    },
    write(event: string) {
      events.inc()
      sink.write(event)
      keep?.(event)
    },
  }
  const auditor = createAuditor({ policy, sink: counting, whenFull: config.whenFull })
  return { auditor, stop: () => sink.stop() }
}
