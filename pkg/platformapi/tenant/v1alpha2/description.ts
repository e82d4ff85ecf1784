import { auditEvents } from '../../../logs/events/audit-event.ts'
import { kubeEvents } from '../../../logs/events/kube-event.ts'
import type { Paths } from '../../../openapi/operation.ts'
import { logOperation } from '../../logs/description.ts'
import { eventOperation } from '../../logs/event-description.ts'

/** OpenAPI descriptions of `/kapis/tenant.<group domain>/v1alpha2`. */
export const tenantPaths = {
  '/logs': { get: logOperation('Log lines: query, statistics, histogram, export, live tail and context') },
  '/events': {
    get: eventOperation(
      'Events of kube-apiserver: query, statistics, histogram and export',
      'Callers see the events of the namespaces in which they may list events.',
      kubeEvents,
    ),
  },
  '/auditing/events': {
    get: eventOperation(
      'The audit log of Kapis: query, statistics, histogram and export',
      'Callers see the audit events of the namespaces in which they may list events of audit.k8s.io.',
      auditEvents,
    ),
  },
} satisfies Paths
