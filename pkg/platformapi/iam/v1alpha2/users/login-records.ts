import { methodNotAllowed } from '../../../../apierrors/status.ts'
import { parseListQuery } from '../../../../apirequest/query/list-query.ts'
import type { AuthenticatedExchange } from '../../../../apirequest/request-context.ts'
import { sendJsonText } from '../../../../httpserver/response/respond.ts'
import { addWarning } from '../../../../httpserver/response/warning.ts'
import { listLoginRecords } from '../../../../iam/loginrecords/login-history.ts'
import type { KubeClient } from '../../../../kubeclient/client.ts'
import { ignoredSelections, ignoredText } from '../../../../resourcecache/list/supported-query.ts'

export type LoginRecordsOptions = { readonly client: KubeClient; readonly groupDomain: string }

/** GET /users/{user}/loginrecords: `{items, totalItems}`, newest first unless `ascending`. */
export async function getLoginRecords(
  { client, groupDomain }: LoginRecordsOptions,
  { req, res, info, query }: AuthenticatedExchange,
): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
  const parsed = parseListQuery(query)
  const { page, limit, sortBy, ascending, filters, warnings } = parsed
  for (const warning of [...warnings, ...ignoredSelections(parsed, 'loginrecords')]) addWarning(res, warning)
  const unknown = [...filters.keys()].filter(key => key !== 'type')
  if (unknown.length > 0) addWarning(res, ignoredText('filter', unknown, 'loginrecords', ['type']))
  if (sortBy !== 'createTime')
    addWarning(res, ignoredText('sort key', [sortBy], 'loginrecords', ['createTime']))
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
