import type { z } from 'zod'
import { choice, integer, section, text } from '../option.ts'

/** Where the audit log goes and what it may cost. */
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
      'Policy of audit.k8s.io/v1, as kube-apiserver reads it. Empty: metadata of everything but reads of discovery and health.',
  }),
  // As kube-apiserver is usually set up; ten files of 100 MiB are some million events.
  maxMegabytes: integer({
    default: 100,
    min: 1,
    max: 100_000,
    description: 'Size at which the file is renamed and a new one is begun, in MiB.',
  }),
  maxBackups: integer({ default: 10, min: 0, max: 1_000, description: 'How many renamed files are kept.' }),
  // About ten megabytes of events without bodies.
  bufferEvents: integer({
    default: 10_000,
    min: 1,
    max: 1_000_000,
    description:
      'Events that may wait for a slow disk. More are dropped and counted, or refused (see `audit.whenFull`).',
  }),
  whenFull: choice({
    of: ['drop', 'refuse'],
    default: 'drop',
    description: '`drop` the event and count it, or `refuse` requests (503) until it can be written.',
  }),
})

export type AuditConfig = Readonly<z.output<typeof audit>>
