import type { Handler } from '../../apirequest/request-context.ts'
import { createAnonymousCheck } from '../../authn/anonymous.ts'
import type { Config } from '../../config/config.ts'
import { createKubeClient, type KubeClient } from '../../kubeclient/client.ts'
import { loadRestConfig, withoutCredential } from '../../kubeclient/config/rest-config.ts'
import { createOpenChannels, type OpenChannels } from '../../kubeclient/pod-channels.ts'
import { createKubeProxy, type DeletedPodLogs } from '../../proxy/kube-apiserver-proxy.ts'
import { createKubeConnections } from '../../proxy/kube-connections.ts'
import type { SessionRecording } from '../../proxy/session-recording.ts'
import { forwardUpgrade, kubeUpgrade } from '../../proxy/upgrade.ts'
import type { Tracing } from '../../telemetry/tracing/tracing.ts'

export type KubeApiserver = {
  /** Sends requests with the credential of kapis-apiserver itself. */
  readonly client: KubeClient
  /** Returns whether kube-apiserver accepts requests without a credential. @throws Status 503 */
  readonly isAnonymousAllowed: () => Promise<boolean>
  /** Creates the proxy, which sends requests as their caller on separate connections. */
  readonly proxy: (deletedPodLogs: DeletedPodLogs) => Handler
  readonly upgrade: (recording: Pick<SessionRecording, 'begin'>) => Handler
  /** Opens exec of pods for a terminal, without impersonation. */
  readonly openChannels: OpenChannels
  /** Closes all connections except those of `client`. */
  readonly close: () => void
}

// Each watch or terminal occupies a connection; short requests share the others.
const maxProxied = { short: 640, long: 4_096 }

export function createKubeApiserver(config: Config, tracing: Tracing): KubeApiserver {
  const endpoint = loadRestConfig(config.kubernetes.kubeconfig)
  const stranger = createKubeClient(withoutCredential(endpoint))
  const peer = { name: 'kube-apiserver', url: endpoint.url }
  const proxied = loadRestConfig(config.kubernetes.kubeconfig)
  const connections = createKubeConnections(proxied, maxProxied)
  const account = 'the Kapis service account'
  const server = { endpoint: proxied, connections, name: 'kube-apiserver', account }
  return {
    client: tracing.client(createKubeClient(endpoint), peer),
    isAnonymousAllowed: createAnonymousCheck(stranger),
    proxy: deletedPodLogs => tracing.upstream(peer, createKubeProxy(server, deletedPodLogs)),
    upgrade: recording =>
      tracing.upstream(peer, async exchange => {
        const openTaps = await recording.begin(exchange)
        await forwardUpgrade({ ...(await kubeUpgrade(server, exchange)), openTaps }, exchange)
      }),
    openChannels: createOpenChannels(proxied),
    close() {
      connections.close()
      stranger.close()
    },
  }
}
