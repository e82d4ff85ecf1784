import { type Fields, integer, text } from './fields.ts'

/** Where the audit log goes and what it may cost. `path` '' is none, '-' is standard output. */
export type AuditConfig = {
  readonly path: string
  readonly policyFile: string
  readonly maxMegabytes: number
  readonly maxBackups: number
  readonly bufferEvents: number
  readonly whenFull: 'drop' | 'refuse'
}

export const auditMembers = ['path', 'policyFile', 'maxMegabytes', 'maxBackups', 'bufferEvents', 'whenFull']

export function parseAudit(fields: Fields): AuditConfig {
  return {
    path: text(fields, 'path', { default: '' }),
    policyFile: text(fields, 'policyFile', { default: '' }),
    // As kube-apiserver is usually set up; ten files of 100 MiB are some million events.
    maxMegabytes: integer(fields, 'maxMegabytes', { default: 100, min: 1, max: 100_000 }),
    maxBackups: integer(fields, 'maxBackups', { default: 10, min: 0, max: 1_000 }),
    // About ten megabytes of events without bodies.
    bufferEvents: integer(fields, 'bufferEvents', { default: 10_000, min: 1, max: 1_000_000 }),
    whenFull: fields.choice('whenFull', ['drop', 'refuse']),
  }
}
