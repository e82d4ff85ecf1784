import { createApiDocuments } from '../../../apidocs/documents.ts'
import { createDocsPage } from '../../../apidocs/page.ts'
import type { Config } from '../../../config/config.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import type { DocumentRoute } from '../path-router.ts'
import { describeApi } from './api-description.ts'

/** Wires the API documentation: the OpenAPI documents and /docs. */
export function createApiDocs({
  client,
  config,
  version,
}: {
  readonly client: KubeClient
  readonly config: Config
  readonly version: string
}): readonly DocumentRoute[] {
  const sections = describeApi(config.groupDomain)
  const readIndex = () => client.call({ path: '/openapi/v3' })
  return [
    createApiDocuments({ sections, version, readIndex }),
    createDocsPage({ sections, product: config.oauth.productName, version }),
  ]
}
