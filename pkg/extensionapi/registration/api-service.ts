import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'
import { resourcesGroup, resourcesVersion } from '../../resourcecache/kinds.ts'

/** The Service through which kube-apiserver reaches Kapis. */
export type ServiceReference = { readonly namespace: string; readonly name: string; readonly port: number }

/** The values from which the APIService is built. */
export type Registration = {
  readonly groupDomain: string
  readonly service: ServiceReference
  /** CAs as PEM; during a CA rotation both the old and the new one. */
  readonly caBundle: string
}

export const apiServicesPath = '/apis/apiregistration.k8s.io/v1/apiservices'

const managedByLabel = 'app.kubernetes.io/managed-by'
const instanceLabel = 'app.kubernetes.io/instance'

// The priority is lower than that of all groups of kube-apiserver, so that `kubectl get nodes`
// without a group still returns nodes of the core group.
const groupPriorityMinimum = 1_000
const versionPriority = 100

/** Returns the name that Kubernetes requires for the APIService: `<version>.<group>`. */
export function apiServiceName(groupDomain: string): string {
  return `${resourcesVersion}.${resourcesGroup(groupDomain)}`
}

/**
 * Returns the desired APIService. Metadata of other programs is preserved.
 *
 * @param current the existing APIService; its resourceVersion makes the update conditional
 */
export function toApiService(registration: Registration, current?: KubeObject) {
  const { groupDomain, service, caBundle } = registration
  return {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: {
      ...current?.metadata,
      name: apiServiceName(groupDomain),
      labels: { ...current?.metadata.labels, ...labelsOf(service) },
    },
    spec: {
      group: resourcesGroup(groupDomain),
      version: resourcesVersion,
      groupPriorityMinimum,
      versionPriority,
      service,
      caBundle: Buffer.from(caBundle).toString('base64'),
    },
  }
}

/**
 * Returns whether an existing APIService belongs to this installation: it refers to the Service of
 * this installation, or this installation has created it. The label `managed-by` alone does not
 * distinguish two installations, which would then overwrite each other endlessly.
 */
export function isOurs(current: KubeObject, service: ServiceReference): boolean {
  const { name, namespace } = serviceOf(current)
  if (name === service.name && namespace === service.namespace) return true
  const labels = current.metadata.labels ?? {}
  return Object.entries(labelsOf(service)).every(([key, value]) => labels[key] === value)
}

/** Returns the paths of fields that differ from the desired state; empty if none differ. */
export function driftOf(current: KubeObject, registration: Registration): readonly string[] {
  const desired = toApiService(registration, current)
  const labels = current.metadata.labels ?? {}
  const spec = isRecord(current.spec) ? current.spec : {}
  const service = serviceOf(current)
  return [
    ...differing('metadata.labels', labels, labelsOf(registration.service)),
    ...differing('spec', { insecureSkipTLSVerify: false, ...spec }, { insecureSkipTLSVerify: false }),
    ...differing('spec', spec, { ...desired.spec, service: spec.service }),
    ...differing('spec.service', service, registration.service),
  ]
}

/** Returns `namespace/name` of the Service that an APIService refers to. */
export function describeService(current: KubeObject): string {
  const { name, namespace } = serviceOf(current)
  return name === undefined ? 'kube-apiserver itself' : `the Service ${namespace}/${name}`
}

/** Returns the caBundle of an APIService as PEM; '' if there is none. */
export function caBundleOf({ spec }: KubeObject): string {
  const bundle = isRecord(spec) ? spec.caBundle : undefined
  return typeof bundle === 'string' ? Buffer.from(bundle, 'base64').toString() : ''
}

function labelsOf({ namespace }: ServiceReference): Readonly<Record<string, string>> {
  return { [managedByLabel]: 'kapis', [instanceLabel]: namespace }
}

function serviceOf({ spec }: KubeObject): Readonly<Record<string, unknown>> {
  return isRecord(spec) && isRecord(spec.service) ? spec.service : {}
}

function differing(
  path: string,
  actual: Readonly<Record<string, unknown>>,
  desired: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.keys(desired)
    .filter(key => actual[key] !== desired[key])
    .map(key => `${path}.${key}`)
}
