import type { KubeObject } from '../../kubeclient/object/object.ts'
import type { LogRecord } from '../record.ts'
import { toKubeEventRecord } from './kube-event.ts'

/** Returns an event of pod web-0 in namespace shop, overridden by `given`. */
export function kubeEvent(name: string, version: number, given: object = {}): KubeObject {
  return {
    metadata: {
      name,
      namespace: 'shop',
      uid: `uid-${name}`,
      resourceVersion: String(version),
      creationTimestamp: '2020-05-16T16:00:00Z',
    },
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-0', uid: 'pod-uid' },
    reason: 'FailedScheduling',
    message: 'no node is free',
    type: 'Warning',
    firstTimestamp: '2020-05-16T16:00:00Z',
    lastTimestamp: '2020-05-16T16:00:42Z',
    ...given,
  }
}

/** Returns an audit event of alice getting pod web-0 in namespace shop, overridden by `given`. */
export function auditEvent(given: object = {}): object {
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: 'one',
    stage: 'ResponseComplete',
    requestURI: '/api/v1/namespaces/shop/pods/web-0',
    verb: 'get',
    user: { username: 'alice', groups: ['devs', 'system:authenticated'] },
    sourceIPs: ['10.1.2.3'],
    objectRef: { resource: 'pods', namespace: 'shop', name: 'web-0', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 200 },
    requestReceivedTimestamp: '2020-05-16T16:00:42.608000Z',
    stageTimestamp: '2020-05-16T16:00:42.609000Z',
    ...given,
  }
}

export function kubeEventRecord(event: KubeObject): LogRecord {
  return toKubeEventRecord(event, JSON.stringify(event))
}
