import { listLoginRecords } from '../../../iam/login-history.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { AuthenticatedExchange } from '../../../request/exchange.ts'
import { parseListQuery } from '../../../request/list-query.ts'
import { sendJsonText } from '../../../request/respond.ts'
import { badRequest, methodNotAllowed } from '../../../status/status.ts'

export type LoginRecordsOptions = { readonly client: KubeClient; readonly groupDomain: string }

/** GET /users/{user}/loginrecords: `{items, totalItems}`, newest first unless `ascending`. */
export async function getLoginRecords(
  { client, groupDomain }: LoginRecordsOptions,
  { req, res, info, query }: AuthenticatedExchange,
): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  const { page, limit, sortBy, ascending, filters } = parseListQuery(query)
  for (const key of filters.keys())
    if (key !== 'type')
      throw badRequest(`unknown filter ${JSON.stringify(key)} for loginrecords; supported filters: type`)
  if (sortBy !== 'createTime')
    throw badRequest(`loginrecords cannot be sorted by ${JSON.stringify(sortBy)}; supported: createTime`)
  const all = await listLoginRecords({
    client,
    groupDomain,
    user: info.name,
    type: filters.get('type') ?? '',
  })
  if (ascending) all.reverse()
  const items = limit < 0 ? all : all.slice((page - 1) * limit, page * limit)
  sendJsonText(res, 200, `{"items":[${items.join(',')}],"totalItems":${all.length}}`)
}
