import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Status } from '../../pkg/apierrors/status.ts'
import type { KubeClient } from '../../pkg/kubeclient/client.ts'
import { isRecord } from '../../pkg/kubeclient/object/object.ts'
import { type Pki, toKubeconfig } from './pki.ts'
import { create, waitForObject } from './samples/samples.ts'
import { namespace, type Settings } from './settings.ts'

const inNamespace = `/api/v1/namespaces/${namespace}`
const tokenSeconds = 7 * 86_400
const availableWithinMs = 120_000
const touchEveryMs = 3_000
const apiServicePath = '/apis/apiregistration.k8s.io/v1/apiservices'

/** Creates what the manifests do not contain: the CA of this launcher, and a Service. */
export async function createKapisObjects(client: KubeClient, pki: Pki): Promise<void> {
  await create(client, '/api/v1/namespaces', { metadata: { name: namespace } })
  await create(client, `${inNamespace}/serviceaccounts`, { metadata: { name: 'kapis' } })
  await create(client, `${inNamespace}/secrets`, {
    metadata: { name: 'kapis-ca' },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': pki.kapis.certPem, 'tls.key': pki.kapis.keyPem },
  })
  // Without a Service network, kube-apiserver uses the external name and the APIService's port.
  await create(client, `${inNamespace}/services`, {
    metadata: { name: 'kapis' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
}

/** Writes a kubeconfig for the service account of Kapis, with its permissions. */
export async function writeKapisKubeconfig(client: KubeClient, settings: Settings, server: string, pki: Pki) {
  const kubeconfig = toKubeconfig(server, pki.file('ca.crt'), { token: await createToken(client, 'kapis') })
  writeFileSync(join(settings.runDir, 'kapis.kubeconfig'), kubeconfig, { mode: 0o600 })
}

/** Creates a service account that may only send logs. @returns its token */
export async function createLogShipper(client: KubeClient): Promise<string> {
  const name = 'log-shipper'
  await create(client, `${inNamespace}/serviceaccounts`, { metadata: { name } })
  await create(client, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'kapis:sample-log-shipper' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'kapis:log-shipper' },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  })
  return createToken(client, name)
}

async function createToken(client: KubeClient, serviceAccount: string): Promise<string> {
  const response = await client.call({
    method: 'POST',
    path: `${inNamespace}/serviceaccounts/${serviceAccount}/token`,
    body: { spec: { expirationSeconds: tokenSeconds } },
  })
  const token = isRecord(response) && isRecord(response.status) ? response.status.token : undefined
  if (typeof token !== 'string') throw new Error(`no token for the service account ${serviceAccount}`)
  return token
}

/** @throws Error if the extension API does not become available within two minutes */
export async function waitAvailable(
  client: KubeClient,
  groupDomain: string,
  signal: AbortSignal,
): Promise<void> {
  const name = `v1alpha3.resources.${groupDomain}`
  const startedAt = Date.now()
  const deadline = startedAt + availableWithinMs
  for (let nextTouchAt = startedAt + touchEveryMs; ; ) {
    const { status, message } = await available(client, name)
    if (status === 'True' && (await isDiscovered(client, groupDomain))) return
    if (Date.now() > deadline)
      throw new Error(`APIService ${name} is not available after ${availableWithinMs / 1000} s: ${message}`)
    if (Date.now() > nextTouchAt) {
      await touch(client, name)
      nextTouchAt = Date.now() + touchEveryMs
    }
    await sleep(100, undefined, { signal })
  }
}

/** Changes an APIService so that kube-apiserver checks it now, not after 30 or 60 seconds. */
async function touch(client: KubeClient, name: string): Promise<void> {
  const annotations = { 'kapis.io/touched-at': new Date().toISOString() }
  await client.call({
    method: 'PATCH',
    path: `${apiServicePath}/${name}`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations } },
  })
}

/**
 * Reports whether discovery and OpenAPI of kube-apiserver contain the group, which takes a second
 * or two after the server is available. Until then, kubectl would cache that the group does not
 * exist.
 */
async function isDiscovered(client: KubeClient, groupDomain: string): Promise<boolean> {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const group = `resources.${groupDomain}`
  const discovery = JSON.stringify(await client.call({ path: '/apis', accept }))
  if (!new RegExp(`"name":"${group}".{0,400}"resource":"nodes"`).test(discovery)) return false
  const openapi = await client.call({ path: '/openapi/v3' })
  const paths = isRecord(openapi) && isRecord(openapi.paths) ? openapi.paths : {}
  return paths[`apis/${group}/v1alpha3`] !== undefined
}

async function available(client: KubeClient, name: string): Promise<{ status: string; message: string }> {
  try {
    const object = await client.call({ path: `${apiServicePath}/${name}` })
    const conditions: unknown = isRecord(object) && isRecord(object.status) ? object.status.conditions : []
    const found = Array.isArray(conditions)
      ? conditions.find(condition => isRecord(condition) && condition.type === 'Available')
      : undefined
    return { status: String(found?.status ?? ''), message: String(found?.message ?? 'no condition yet') }
  } catch (error) {
    if (error instanceof Status) return { status: '', message: error.message }
    throw error
  }
}

/** Reads the first user, which Kapis creates with a random password. */
export async function readInitialUser(client: KubeClient): Promise<{ user: string; password: string }> {
  const secret = await waitForObject(client, `${inNamespace}/secrets/kapis-initial-admin`)
  const data = isRecord(secret) && isRecord(secret.data) ? secret.data : {}
  const decode = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : '', 'base64').toString('utf8')
  return { user: decode(data.username), password: decode(data.password) }
}
