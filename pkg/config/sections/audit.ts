import type { z } from 'zod'
import { choice, integer, section, text } from '../option.ts'

/** The destination and the limits of the audit log. */
export const audit = section({
  path: text({
    default: '',
    env: 'KAPIS_AUDIT_PATH',
    description:
      'File of the audit log, JSON lines of audit.k8s.io/v1 Events; `-` for standard output; empty for none.',
  }),
  policyFile: text({
    default: '',
    env: 'KAPIS_AUDIT_POLICY_FILE',
    description:
      'File of an audit policy (audit.k8s.io/v1), as for kube-apiserver. Empty: metadata of all requests except discovery and health checks.',
  }),
  // The usual settings of kube-apiserver: ten files of 100 MiB contain some million events.
  maxMegabytes: integer({
    default: 100,
    min: 1,
    max: 100_000,
    description: 'Size at which the file is rotated, in MiB.',
  }),
  maxBackups: integer({ default: 10, min: 0, max: 1_000, description: 'Number of rotated files to keep.' }),
  // Events without bodies take about ten megabytes.
  bufferEvents: integer({
    default: 10_000,
    min: 1,
    max: 1_000_000,
    description:
      'Maximum number of events in the buffer for a slow disk. `audit.whenFull` configures what happens when it is full.',
  }),
  whenFull: choice({
    of: ['drop', 'refuse'],
    default: 'drop',
    description:
      'What to do when the buffer is full: `drop` events and count them, or `refuse` requests (503).',
  }),
})

export type AuditConfig = Readonly<z.output<typeof audit>>
