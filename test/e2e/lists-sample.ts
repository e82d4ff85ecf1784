/** Objects of many kinds, so that every filter matches some objects and excludes others. */

import { crd } from './lists-platform-kinds.ts'

type Manifest = { readonly metadata: object; readonly [member: string]: unknown }

export const widgetGroup = 'shop.example.com'

export const definitions: readonly Manifest[] = [
  crd('snapshot.storage.k8s.io', 'v1', 'VolumeSnapshot', true),
  crd('snapshot.storage.k8s.io', 'v1', 'VolumeSnapshotClass', false),
  crd('snapshot.storage.k8s.io', 'v1', 'VolumeSnapshotContent', false),
  crd('app.k8s.io', 'v1beta1', 'Application', true),
  crd(widgetGroup, 'v1', 'Widget', true),
]

/**
 * @param namespace name of an existing namespace, with which names of cluster-scoped objects begin
 */
export function sampleOf(namespace: string, groupDomain: string): readonly Manifest[] {
  const inside = (
    kind: string,
    apiVersion: string,
    name: string,
    rest: object,
    meta: object = {},
  ): Manifest => ({
    apiVersion,
    kind,
    metadata: { name, namespace, ...meta },
    ...rest,
  })
  const outside = (
    kind: string,
    apiVersion: string,
    name: string,
    rest: object,
    meta: object = {},
  ): Manifest => ({
    apiVersion,
    kind,
    metadata: { name: `${namespace}-${name}`, ...meta },
    ...rest,
  })
  const template = (app: string, more: object = {}) => ({
    metadata: { labels: { app } },
    spec: {
      // Pods name their node, since the control plane has no scheduler.
      nodeName: 'worker-1',
      containers: [{ name: 'main', image: `example.org/${app}:1`, resources: { requests: { cpu: '10m' } } }],
      ...more,
    },
  })
  const workload = (app: string, replicas: number) => ({
    spec: { replicas, selector: { matchLabels: { app } }, template: template(app), serviceName: app },
  })
  const { serviceName: _, ...deployment } = workload('shop', 2).spec
  const alias = (text: string) => ({ annotations: { [`${groupDomain}/alias-name`]: text, team: 'red' } })
  const claim = (size: string, storageClassName: string) => ({
    spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: size } } },
  })
  const driver = { 'volume.kubernetes.io/storage-provisioner': `${namespace}.csi.example.org` }
  return [
    inside(
      'Deployment',
      'apps/v1',
      'shop',
      { spec: deployment },
      { labels: { tier: 'front' }, ...alias('Der Laden') },
    ),
    inside(
      'Deployment',
      'apps/v1',
      'asleep',
      { spec: { ...deployment, replicas: 0 } },
      { labels: { tier: 'back' } },
    ),
    inside('Deployment', 'apps/v1', 'stuck', {
      spec: { ...deployment, template: template('shop', { nodeName: '' }) },
    }),
    inside('StatefulSet', 'apps/v1', 'db', workload('db', 1)),
    inside('StatefulSet', 'apps/v1', 'db-off', workload('db-off', 0)),
    inside('DaemonSet', 'apps/v1', 'agent', {
      spec: { selector: { matchLabels: { app: 'agent' } }, template: template('agent') },
    }),
    inside('Job', 'batch/v1', 'once', { spec: { template: template('once', { restartPolicy: 'Never' }) } }),
    inside('Job', 'batch/v1', 'late', {
      spec: {
        activeDeadlineSeconds: 1,
        template: template('late', { nodeName: '', restartPolicy: 'Never' }),
      },
    }),
    // Without a node, no other program changes its status, which the test writes.
    inside('Pod', 'v1', 'broken', { spec: { ...template('broken').spec, nodeName: '' } }),
    inside('CronJob', 'batch/v1', 'nightly', cron(false, template('nightly', { restartPolicy: 'Never' }))),
    inside('CronJob', 'batch/v1', 'paused', cron(true, template('paused', { restartPolicy: 'Never' }))),
    inside('Service', 'v1', 'shop', { spec: { selector: { app: 'shop' }, ports: [{ port: 80 }] } }),
    inside('Service', 'v1', 'bare', { spec: { ports: [{ port: 80 }] } }),
    inside('ConfigMap', 'v1', 'settings', { data: { a: 'b' } }, { labels: { tier: 'front' } }),
    inside('Secret', 'v1', 'opaque', { stringData: { a: 'b' } }),
    inside('Secret', 'v1', 'registry', {
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': '{"auths":{}}' },
    }),
    inside('PersistentVolumeClaim', 'v1', 'data', claim('1Gi', 'slow'), { annotations: driver }),
    inside('PersistentVolumeClaim', 'v1', 'spare', claim('2Gi', 'fast')),
    inside('Pod', 'v1', 'mounts', {
      spec: {
        ...template('mounts').spec,
        volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
      },
    }),
    outside('PersistentVolume', 'v1', 'disk', {
      spec: {
        capacity: { storage: '5Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'other',
        hostPath: { path: '/tmp' },
      },
    }),
    outside('StorageClass', 'storage.k8s.io/v1', 'class', { provisioner: 'example.org/none' }),
    outside('VolumeSnapshotClass', 'snapshot.storage.k8s.io/v1', 'snap', {
      driver: `${namespace}.csi.example.org`,
      deletionPolicy: 'Delete',
    }),
    inside('VolumeSnapshot', 'snapshot.storage.k8s.io/v1', 'taken', {
      spec: { volumeSnapshotClassName: 'snap', source: { persistentVolumeClaimName: 'data' } },
      status: { readyToUse: true },
    }),
    inside('VolumeSnapshot', 'snapshot.storage.k8s.io/v1', 'coming', {
      spec: { volumeSnapshotClassName: 'other', source: { persistentVolumeClaimName: 'spare' } },
    }),
    inside(
      'VolumeSnapshot',
      'snapshot.storage.k8s.io/v1',
      'leaving',
      { spec: { source: { persistentVolumeClaimName: 'data' } } },
      { finalizers: ['example.org/held'] },
    ),
    outside('VolumeSnapshotContent', 'snapshot.storage.k8s.io/v1', 'content', {
      spec: { volumeSnapshotClassName: 'snap', volumeSnapshotRef: { name: 'taken', namespace } },
      status: { readyToUse: true },
    }),
    inside('Application', 'app.k8s.io/v1beta1', 'bundle', { spec: {} }),
    inside('Event', 'v1', 'noted', {
      involvedObject: { kind: 'Pod', namespace, name: 'mounts' },
      reason: 'Noted',
      type: 'Warning',
      lastTimestamp: '2031-01-02T03:04:05Z',
    }),
    inside('Ingress', 'networking.k8s.io/v1', 'door', {
      spec: { defaultBackend: { service: { name: 'shop', port: { number: 80 } } } },
    }),
    inside('NetworkPolicy', 'networking.k8s.io/v1', 'closed', { spec: { podSelector: {} } }),
    inside('Role', 'rbac.authorization.k8s.io/v1', 'looker', {
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    }),
    inside('RoleBinding', 'rbac.authorization.k8s.io/v1', 'looker', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'looker' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace }],
    }),
    inside('LimitRange', 'v1', 'limits', { spec: { limits: [{ type: 'Pod', max: { cpu: '8' } }] } }),
    inside('ResourceQuota', 'v1', 'quota', { spec: { hard: { 'count/configmaps': '10', pods: '50' } } }),
    inside('PodDisruptionBudget', 'policy/v1', 'keep', {
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'shop' } } },
    }),
    inside('HorizontalPodAutoscaler', 'autoscaling/v2', 'grow', {
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop' } },
    }),
    ...[3, 1, 2].map(rank =>
      inside('Widget', `${widgetGroup}/v1`, `widget-${rank}`, {
        spec: { rank, size: `${rank}Gi`, colour: rank === 2 ? 'blue' : 'red' },
        status: { phase: rank === 1 ? 'Idle' : 'Busy' },
      }),
    ),
  ]
}

function cron(suspend: boolean, template: object) {
  return { spec: { suspend, schedule: '0 3 * * *', jobTemplate: { spec: { template } } } }
}
