import type { Config } from '../../../config/config.ts'
import { logPageClient } from '../../../config/sections/built-in-clients.ts'
import type { ClientAddress } from '../../../httpserver/request/client-address.ts'
import { createLogPage, type LogPage } from '../../../platformapi/logs/page/serve.ts'

/** Creates the log page if a log store is configured. kapis-oauth has a built-in client for it. */
export function createConfiguredLogPage(
  { groupDomain, oauth, logs }: Config,
  clientAddress: ClientAddress,
): LogPage | undefined {
  if (logs.store === 'none') return undefined
  const { issuer, socket, productName } = oauth
  const { name: clientId, redirectURIs } = logPageClient(issuer)
  return createLogPage({
    ...{ groupDomain, productName, issuer, socket, clientId },
    redirectUri: redirectURIs[0] ?? '',
    clientAddress,
  })
}
