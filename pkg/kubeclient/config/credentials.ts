import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { createRequire } from 'node:module'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { type CurrentContext, readContext, toPlainCredentials } from './kubeconfig.ts'

/** URL and credentials of kube-apiserver; call `options` per request, as they rotate. */
export type Credentials = { readonly server: string; readonly options: () => Promise<RequestOptions> }

const mounted = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * Reads the credentials of the service account of the Pod. Implemented here because the client
 * library takes a second and 80 MB to load.
 *
 * @param env environment variables that the kubelet sets
 * @throws Error outside of a Pod
 */
export function readServiceAccount(
  env: Readonly<Record<string, string | undefined>>,
  folder = mounted,
): Credentials {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env
  if (host === undefined || port === undefined)
    throw new Error('not running in a Pod and no kubeconfig given (set --kubeconfig or KAPIS_KUBECONFIG)')
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    options: async () => {
      const [token, ca] = await Promise.all(
        ['token', 'ca.crt'].map(name => readFile(join(folder, name), 'utf8')),
      )
      return { ca, headers: { Authorization: `Bearer ${token?.trim()}` } }
    },
  }
}

/**
 * Reads any kubeconfig, including exec plugins.
 *
 * @param files which kubectl would merge
 * @param context the current context by default
 * @throws Error if the context or its cluster does not exist
 */
export function readKubeconfig(files: readonly string[], context?: string): Credentials {
  const current = readContext(files, context)
  if (context !== undefined && current.context === undefined)
    throw new Error(`context ${JSON.stringify(context)} does not exist in ${files.join(', ')}`)
  const plain = toPlainCredentials(current)
  if (plain !== undefined) return plain
  const { KubeConfig } = loadLibrary(files)
  const config = new KubeConfig()
  config.loadFromString(JSON.stringify(toDocument(current)))
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new Error(`kubeconfig ${files.join(', ')} has no current cluster`)
  return {
    server: cluster.server,
    options: async () => {
      const options: RequestOptions = { headers: {} }
      await config.applyToHTTPSOptions(options)
      return options
    },
  }
}

/** Returns a kubeconfig with only the current context. */
function toDocument({ name, context, cluster, user }: CurrentContext): object {
  return {
    'current-context': name,
    contexts: context === undefined ? [] : [{ name, context }],
    clusters: cluster === undefined ? [] : [{ name: context?.cluster, cluster }],
    users: user === undefined ? [] : [{ name: context?.user, user }],
  }
}

/** Loads the client library, which the npm package of the command line does not contain. */
function loadLibrary(files: readonly string[]): typeof import('@kubernetes/client-node') {
  const require = createRequire(import.meta.url)
  try {
    return require('@kubernetes/client-node')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')) throw error
    throw new Error(
      `kubeconfig ${files.join(', ')} uses an exec plugin or an auth provider, which needs the package @kubernetes/client-node`,
    )
  }
}
