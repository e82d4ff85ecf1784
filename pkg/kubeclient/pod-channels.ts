import { unavailable } from '../apierrors/status.ts'
import {
  connectWebSocket,
  UpgradeRejected,
  type WebSocketConnection,
  type WebSocketEvents,
} from '../http/web-socket-client.ts'
import { toStatus } from './client.ts'
import type { RestConfig } from './config/rest-config.ts'

/** Opens exec, attach or port-forward as a WebSocket; byte 0 of a message is its channel. */
export type OpenChannels = (
  call: {
    /** Path and query exactly as in the request line. */
    readonly path: string
    /** Additional headers: name, value, name, value. */
    readonly headers: readonly string[]
  },
  events: WebSocketEvents,
) => Promise<WebSocketConnection>

/** Channels, the first byte of each message (k8s.io/apimachinery/pkg/util/remotecommand). */
export const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const

export type ExecTarget = {
  readonly namespace: string
  readonly pod: string
  /** '' for the default container of the pod. */
  readonly container: string
  readonly command: string
}

export function terminalPath({ namespace, pod, container, command }: ExecTarget): string {
  const query = new URLSearchParams({ stdin: 'true', stdout: 'true', tty: 'true', command })
  if (container !== '') query.set('container', container)
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/exec?${query}`
}

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
// kube-apiserver itself waits 30 s for the kubelet.
const timeoutMs = 35_000
const maxMessageBytes = 1024 * 1024

/** @throws Status of kube-apiserver, or 503 if it is not responding */
export function createOpenChannels(endpoint: RestConfig): OpenChannels {
  const base = endpoint.url.pathname.replace(/\/$/, '')
  return async ({ path, headers }, events) => {
    const { tls, headers: credential } = await endpoint.access()
    const target = {
      url: new URL(base + path, endpoint.url),
      ...{ tls, protocols, timeoutMs, maxMessageBytes },
      headers: [...credential, 'User-Agent', 'kapis', ...headers],
    }
    try {
      return await connectWebSocket(target, events)
    } catch (error) {
      if (!(error instanceof UpgradeRejected)) throw unavailable('kube-apiserver is not responding', error)
      if (error.code === 401) endpoint.credentialRejected()
      throw toStatus(error.code, error.body)
    }
  }
}
