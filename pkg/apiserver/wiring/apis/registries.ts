import { readFileSync } from 'node:fs'
import type { Config } from '../../../config/config.ts'
import { withDefaultCertificates } from '../../../http/ca-certificates.ts'
import { createRegistryClient } from '../../../imageregistry/client.ts'
import { createConnect } from '../../../imageregistry/connect.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import type { RegistryTools } from '../../../platformapi/registries/serve.ts'

// Timeout for all requests to registries that result from one request of a caller.
const registryMs = 30_000

export function createRegistries(parts: {
  readonly client: KubeClient
  readonly config: Config
  readonly requirePermission: RegistryTools['requirePermission']
}): { readonly tools: RegistryTools; readonly close: () => void } {
  const { client, config, requirePermission } = parts
  const { caFile, trustedHosts } = config.registries
  const connection = createConnect({
    ca: caFile === '' ? undefined : withDefaultCertificates(readFileSync(caFile, 'utf8')),
    trustedHosts,
  })
  const registry = createRegistryClient(connection.connect, () => AbortSignal.timeout(registryMs))
  return { tools: { client, registry, requirePermission }, close: () => connection.close() }
}
