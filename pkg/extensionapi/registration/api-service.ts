import { isRecord, type KubeObject } from '../../kubeclient/object/object.ts'
import { resourcesGroup, resourcesVersion } from '../../resourcecache/kinds.ts'

/** The Service through which kube-apiserver reaches Kapis. */
export type ServiceReference = { readonly namespace: string; readonly name: string; readonly port: number }

/** Builds the desired APIService from the group domain, the Service and the current CA. */
export type Registration = {
  readonly groupDomain: string
  readonly service: ServiceReference
  /** PEM; during a CA rotation the old and the new CA. */
  readonly caBundle: string
}

export const apiServicesPath = '/apis/apiregistration.k8s.io/v1/apiservices'

const managedByLabel = 'app.kubernetes.io/managed-by'
const instanceLabel = 'app.kubernetes.io/instance'

// Below every group of kube-apiserver, so that a bare `nodes` stays its own resource.
const groupPriorityMinimum = 1_000
const versionPriority = 100

/** An APIService must bear this name. */
export function apiServiceName(groupDomain: string): string {
  return `${resourcesVersion}.${resourcesGroup(groupDomain)}`
}

/**
 * Returns the desired APIService. Metadata of others is preserved.
 *
 * @param current the existing one; its resourceVersion makes the update conditional
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
 * Returns whether an existing APIService belongs to this installation: it points to its Service, or
 * was created by it. The label `managed-by` alone does not distinguish two installations, which
 * would overwrite each other for ever.
 */
export function isOurs(current: KubeObject, service: ServiceReference): boolean {
  const { name, namespace } = serviceOf(current)
  if (name === service.name && namespace === service.namespace) return true
  const labels = current.metadata.labels ?? {}
  return Object.entries(labelsOf(service)).every(([key, value]) => labels[key] === value)
}

/** Returns the fields that differ from the desired state, by path; empty if there are none. */
export function driftOf(current: KubeObject, registration: Registration): readonly string[] {
  const wanted = toApiService(registration, current)
  const labels = current.metadata.labels ?? {}
  const spec = isRecord(current.spec) ? current.spec : {}
  const service = serviceOf(current)
  return [
    ...differing('metadata.labels', labels, labelsOf(registration.service)),
    ...differing('spec', { insecureSkipTLSVerify: false, ...spec }, { insecureSkipTLSVerify: false }),
    ...differing('spec', spec, { ...wanted.spec, service: spec.service }),
    ...differing('spec.service', service, registration.service),
  ]
}

/** `namespace/name` of the Service that an APIService points at. */
export function describeService(current: KubeObject): string {
  const { name, namespace } = serviceOf(current)
  return name === undefined ? 'kube-apiserver itself' : `the Service ${namespace}/${name}`
}

/** Returns its caBundle as PEM; '' if there is none. */
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
  wanted: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.keys(wanted)
    .filter(key => actual[key] !== wanted[key])
    .map(key => `${path}.${key}`)
}
