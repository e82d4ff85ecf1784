import { Agent, type RequestOptions } from 'node:https'
import { readKubeconfig, readServiceAccount } from './credentials.ts'

/** Where the orchestrator is and how Kapis itself signs on to it. */
export type Endpoint = {
  readonly url: URL
  /** Request options with the current credential; a rotated token file or client certificate is picked up. */
  readonly options: () => Promise<RequestOptions> | RequestOptions
  /** To be told when the orchestrator does not know the credential (401): it is read again, once a second at most. */
  readonly refused: () => void
  readonly close: () => void
}

const credentialTtlMs = 60_000
const refusedTtlMs = 1_000

/**
 * Reads a kubeconfig file, or the Pod's service account when `kubeconfig` is ''.
 * Of the client library only the credential handling is used: its calls cost several times a keep-alive request.
 *
 * @param maxSockets connections at most; callers that hold them open for long must not starve the others
 */
export function loadEndpoint(kubeconfig: string, maxSockets = 128): Endpoint {
  // The kubelet's own variables: no settings of ours, which pkg/config alone reads.
  const credentials = kubeconfig === '' ? readServiceAccount(process.env) : readKubeconfig(kubeconfig)
  const url = new URL(credentials.server)

  let agent: Agent | undefined
  let agentKey = ''
  let current: { readonly options: RequestOptions; readonly readAt: number; until: number } | undefined

  async function refresh(): Promise<RequestOptions> {
    const options = await credentials.options()
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
    const readAt = performance.now()
    current = { options: next, readAt, until: readAt + credentialTtlMs }
    return next
  }

  return {
    url,
    options: () => (current && current.until > performance.now() ? current.options : refresh()),
    refused() {
      if (current) current.until = Math.min(current.until, current.readAt + refusedTtlMs)
    },
    close: () => agent?.destroy(),
  }
}
