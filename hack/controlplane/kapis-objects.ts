import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KubeClient } from '../../pkg/kubeclient/client.ts'
import { fieldsOf, itemsOf, textOf } from '../../pkg/kubeclient/object/object.ts'
import { retry } from '../../pkg/kubeclient/retry.ts'
import { type Pki, toKubeconfig } from './pki.ts'
import { create, waitForObject } from './samples/samples.ts'
import { namespace, type Settings } from './settings.ts'

const inNamespace = `/api/v1/namespaces/${namespace}`
const tokenSeconds = 7 * 86_400
const availableWithinMs = 120_000
const touchEveryMs = 3_000

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
  return textOf(fieldsOf(fieldsOf(response).status).token)
}

/** @throws Error if the extension API does not become available within two minutes */
export async function waitAvailable(
  client: KubeClient,
  groupDomain: string,
  signal: AbortSignal,
): Promise<void> {
  const name = `v1alpha3.resources.${groupDomain}`
  const path = `/apis/apiregistration.k8s.io/v1/apiservices/${name}`
  const deadline = Date.now() + availableWithinMs
  let touchAt = Date.now() + touchEveryMs
  const check = async () => {
    if (Date.now() > touchAt) {
      touchAt = Date.now() + touchEveryMs
      // After a change, kube-apiserver checks an APIService now, not after 30 or 60 seconds.
      const body = { metadata: { annotations: { 'kapis.io/touched-at': new Date().toISOString() } } }
      await client.call({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body })
    }
    const { conditions } = fieldsOf(fieldsOf(await client.call({ path })).status)
    const condition = itemsOf(conditions)
      .map(fieldsOf)
      .find(({ type }) => type === 'Available')
    if (condition?.status !== 'True')
      throw new Error(`APIService ${name} is not available: ${condition?.message ?? 'no condition yet'}`)
    if (!(await isDiscovered(client, groupDomain))) throw new Error(`discovery does not have ${name}`)
  }
  await retry(check, { isRetriable: () => Date.now() < deadline, delayMs: () => 100, signal })
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
  const { paths } = fieldsOf(await client.call({ path: '/openapi/v3' }))
  return fieldsOf(paths)[`apis/${group}/v1alpha3`] !== undefined
}

/** Reads the first user, which Kapis creates with a random password. */
export async function readInitialUser(client: KubeClient): Promise<{ user: string; password: string }> {
  const secret = await waitForObject(client, `${inNamespace}/secrets/kapis-initial-admin`)
  const { username, password } = fieldsOf(fieldsOf(secret).data)
  const decode = (value: unknown) => Buffer.from(textOf(value), 'base64').toString('utf8')
  return { user: decode(username), password: decode(password) }
}
