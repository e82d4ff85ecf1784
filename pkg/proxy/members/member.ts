import {
  assertCa,
  type EmbeddedCredential,
  isHttpsUrl,
  readEmbeddedKubeconfig,
} from '../../kubeclient/config/embedded-kubeconfig.ts'
import type { RestConfig } from '../../kubeclient/config/rest-config.ts'
import { fieldsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import { secretData } from '../../kubeclient/object/secret.ts'

/** The servers of a member cluster, and the credential for them. */
export type Member = {
  readonly name: string
  readonly kube: RestConfig
  /** The Kapis in the member cluster, or why there is none. */
  readonly kapis: RestConfig | { readonly problem: string }
}

/** Why a Cluster is invalid: reason and message of its condition, and the status code. */
export type InvalidMember = { readonly reason: string; readonly message: string; readonly code: 501 | 503 }

/** Returns the type of the Secret, named like the Cluster, with a kubeconfig. */
export function kubeconfigSecretType(groupDomain: string): string {
  return `cluster.${groupDomain}/kubeconfig`
}

/**
 * Reads a Cluster, with the kubeconfig of its Secret or, as in KubeSphere, of the Cluster itself.
 * The credential is sent to the endpoints, so they must come from the same object. A Cluster with a
 * Secret may only repeat the endpoints of the Secret.
 */
export function readMember(cluster: KubeObject, secret: KubeObject | undefined): Member | InvalidMember {
  const connection = fieldsOf(fieldsOf(cluster.spec).connection)
  const { name } = cluster.metadata
  const { type = 'direct' } = connection
  if (type !== 'direct') {
    const message = `spec.connection.type ${JSON.stringify(type)} (a tunnel from an agent) is not supported; supported: direct`
    return { reason: 'UnsupportedConnection', message, code: 501 }
  }
  const kubeconfig = kubeconfigOf(connection, secret)
  if (kubeconfig === undefined) {
    const message = `missing kubeconfig: expected the key kubeconfig in the Secret ${name}, or spec.connection.kubeconfig`
    return { reason: 'NoKubeconfig', message, code: 503 }
  }
  try {
    const kube = readEmbeddedKubeconfig(kubeconfig)
    const endpointText = textOf(connection.kubernetesAPIEndpoint)
    if (endpointText !== '' && !isSameUrl(endpointText, kube.url.href))
      throw new Error('spec.connection.kubernetesAPIEndpoint is not the server of the kubeconfig')
    const endpoint = toRestConfig(kube)
    return { name, kube: endpoint, kapis: readKapis(kube, textOf(connection.kubesphereAPIEndpoint), secret) }
  } catch (error) {
    const message = error instanceof Error ? error.message : 'the kubeconfig is invalid'
    return { reason: 'InvalidConnection', message, code: 503 }
  }
}

function kubeconfigOf(
  { kubeconfig }: Readonly<Record<string, unknown>>,
  secret: KubeObject | undefined,
): string | undefined {
  if (secret !== undefined) return secretData(secret, 'kubeconfig')?.toString('utf8')
  return typeof kubeconfig === 'string' && kubeconfig !== ''
    ? Buffer.from(kubeconfig, 'base64').toString('utf8')
    : undefined
}

/** Returns the configuration of a member's Kapis: the same credential, a separate CA. */
function readKapis(
  { access: { headers, tls } }: EmbeddedCredential,
  inSpec: string,
  secret: KubeObject | undefined,
): Member['kapis'] {
  const inSecret = secret && secretData(secret, 'kubesphereAPIEndpoint')?.toString('utf8').trim()
  const endpoint = secret === undefined ? inSpec : (inSecret ?? '')
  if (secret !== undefined && inSpec !== '' && !isSameUrl(inSpec, endpoint))
    return { problem: 'spec.connection.kubesphereAPIEndpoint is not the kubesphereAPIEndpoint of the Secret' }
  if (endpoint === '') return { problem: 'it has no kubesphereAPIEndpoint' }
  if (!isHttpsUrl(endpoint))
    return { problem: 'its kubesphereAPIEndpoint must be an https URL without user, query and fragment' }
  const ca = secret && secretData(secret, 'ca.crt')?.toString('utf8')
  try {
    if (ca !== undefined) assertCa(ca)
  } catch {
    return { problem: 'the ca.crt of its Secret is not a PEM certificate' }
  }
  const { servername: _ofKube, ...verified } = tls
  const access = { headers, tls: ca === undefined ? verified : { ...verified, ca } }
  return toRestConfig({ url: new URL(endpoint), access })
}

function toRestConfig({ url, access }: EmbeddedCredential): RestConfig {
  return { url, access: () => access, credentialRejected: () => undefined }
}

function isSameUrl(a: string, b: string): boolean {
  const normal = (url: string) => URL.parse(url)?.href.replace(/\/$/, '')
  const first = normal(a)
  return first !== undefined && first === normal(b)
}
