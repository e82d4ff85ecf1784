import { Agent, type RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'

/** Where the orchestrator is and how Kapis itself signs on to it. */
export type Endpoint = {
  readonly url: URL
  /** Request options with the current credential; a rotated token file or client certificate is picked up. */
  readonly options: () => Promise<RequestOptions>
  readonly close: () => void
}

const credentialTtlMs = 60_000

/**
 * Reads a kubeconfig file, or the Pod's service account when `kubeconfig` is ''.
 * Only the credential handling of the client library is used: its calls cost several times a keep-alive request.
 *
 * @param maxSockets connections at most; callers that hold them open for long must not starve the others
 */
export function loadEndpoint(kubeconfig: string, maxSockets = 128): Endpoint {
  const config = new KubeConfig()
  if (kubeconfig === '') config.loadFromCluster()
  else config.loadFromFile(kubeconfig)
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new Error(`kubeconfig ${kubeconfig} has no current cluster`)
  const url = new URL(cluster.server)

  let agent: Agent | undefined
  let agentKey = ''
  let current: { options: RequestOptions; until: number } | undefined

  async function refresh(): Promise<RequestOptions> {
    const options: RequestOptions = { headers: {} }
    await config.applyToHTTPSOptions(options)
    const { ca, cert, key, rejectUnauthorized, servername } = options
    const wanted = JSON.stringify([String(ca), String(cert), String(key), rejectUnauthorized, servername])
    if (agent === undefined || wanted !== agentKey) {
      agent?.destroy()
      agent = new Agent({
        keepAlive: true,
        maxSockets,
        scheduling: 'lifo',
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
        ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
        ...(servername === undefined ? {} : { servername }),
      })
      agentKey = wanted
    }
    const next = { ...options, agent, host: url.hostname, port: url.port === '' ? 443 : Number(url.port) }
    current = { options: next, until: Date.now() + credentialTtlMs }
    return next
  }

  return {
    url,
    options: async () => (current && current.until > Date.now() ? current.options : refresh()),
    close: () => agent?.destroy(),
  }
}
