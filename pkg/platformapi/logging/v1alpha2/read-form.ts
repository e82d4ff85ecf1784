import { methodNotAllowed } from '../../../apierrors/status.ts'
import { QueryParameters } from '../../../apirequest/query/query-parameters.ts'
import type { AuthenticatedExchange } from '../../../apirequest/request-context.ts'
import { readBody } from './read-body.ts'

const formType = 'application/x-www-form-urlencoded'
const maxBytes = 256 * 1024
const withinMs = 10_000

/** Returns the parameters of URL and posted form. @throws Status 400, 405, 408, 413, 415 */
export async function readForm({ req, rawQuery }: AuthenticatedExchange): Promise<QueryParameters> {
  const { method } = req
  if (method === 'GET' || method === 'HEAD') return new QueryParameters(rawQuery, maxBytes)
  if (method !== 'POST') throw methodNotAllowed(['GET', 'HEAD', 'POST'])
  // The data source of Grafana names the type of the request that it got, and sends no body.
  if (req.headers['content-length'] === '0') return new QueryParameters(rawQuery, maxBytes)
  const limits = { mediaTypes: [formType], limitBytes: maxBytes, withinMs, hold: () => undefined }
  const body = (await readBody(req, limits)).toString('utf8')
  return new QueryParameters([rawQuery, body].filter(text => text !== '').join('&'), maxBytes)
}
