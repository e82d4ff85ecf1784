import { accessKinds } from '../../../extensionapi/access/access-kinds.ts'
import { accessSchemas } from '../../../extensionapi/access/access-schemas.ts'
import { createDiscovery } from '../../../extensionapi/discovery/discovery.ts'
import { createKindSchemas } from '../../../extensionapi/openapi/kind-schema-loader.ts'
import { createOpenApi } from '../../../extensionapi/openapi/openapi.ts'
import { parseExactly } from '../../../json/parse-exactly.ts'
import { type KubeClient, readText } from '../../../kubeclient/client.ts'
import { retryUntilSuccess } from '../../../kubeclient/retry.ts'
import { resourcesGroup, resourcesVersion, toAggregatedKinds } from '../../../resourcecache/kinds.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { DocumentRoute } from '../path-router.ts'

export type ExtensionDocuments = {
  readonly documents: readonly DocumentRoute[]
  readonly start: () => void
  readonly stop: () => void
}

/** Wires discovery and OpenAPI of the extension API. */
export function createExtensionDocuments(parts: {
  readonly client: KubeClient
  readonly groupDomain: string
  readonly logger: Logger
}): ExtensionDocuments {
  const { client, groupDomain, logger } = parts
  const kinds = toAggregatedKinds(groupDomain)
  const stopped = new AbortController()
  const kindSchemas = createKindSchemas({
    kinds,
    read: async path => parseExactly(await readText(client, { path })),
  })
  const groups = [
    {
      group: resourcesGroup(groupDomain),
      version: resourcesVersion,
      resources: [...kinds, ...accessKinds],
      schemas: accessSchemas,
    },
  ]
  return {
    documents: [createDiscovery(groups), createOpenApi(groups, kindSchemas)],
    start() {
      // Loads the schemas early: kube-apiserver fetches the documents a second after the group
      // becomes available, and then not again for a minute.
      void retryUntilSuccess(async () => void (await kindSchemas()), { logger, signal: stopped.signal })
    },
    stop: () => stopped.abort(),
  }
}
