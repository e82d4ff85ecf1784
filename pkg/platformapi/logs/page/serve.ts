import type { IncomingMessage } from 'node:http'
import { methodNotAllowed, Status, unknownResource } from '../../../apierrors/status.ts'
import type { Exchange, Handler } from '../../../apirequest/request-context.ts'
import { readCookie } from '../../../httpserver/cookie.ts'
import { tokenCookie } from './cookies.ts'
import { createLogin, type LogPageLoginOptions } from './login.ts'
import { createDocuments } from './page.ts'

export type LogPageOptions = Omit<LogPageLoginOptions, 'documents'> & {
  readonly groupDomain: string
  readonly productName: string
}

export type LogPage = {
  /** Converts a request with a token cookie into one with a bearer token, before the chain. */
  readonly admit: (req: IncomingMessage) => void
  readonly handles: (path: string) => boolean
  readonly isAudited: (path: string) => boolean
  readonly handle: Handler<Exchange>
}

const api =
  /^\/logs\/api\/(?:(records)|(values)|(namespaces(?:\/[a-z0-9-]{1,63}\/pods)?)|((?:namespaces\/[a-z0-9-]{1,63}\/)?)recordings((?:\/[a-z0-9-]{1,63})?))(\?.*)?$/

/**
 * Serves the log page at /logs. It reads from the platform API through /logs/api/, which only
 * allows reads of six paths: the cookie grants nothing else.
 */
export function createLogPage(options: LogPageOptions): LogPage {
  const { groupDomain, productName } = options
  const documents = createDocuments(productName)
  const login = createLogin({ ...options, documents })
  const targets = {
    records: `/kapis/tenant.${groupDomain}/v1alpha2/logs`,
    values: `/kapis/logging.${groupDomain}/v1alpha2/select/logsql/field_values`,
    logging: `/kapis/logging.${groupDomain}/v1alpha2/`,
    resources: `/kapis/resources.${groupDomain}/v1alpha3/`,
  }

  return {
    admit(req) {
      const found = req.url?.startsWith('/logs/api/') && req.method === 'GET' ? api.exec(req.url) : null
      if (!found) return
      const [, records, values, resources, within = '', name = '', query = ''] = found
      // Browsers report the origin of a request in Sec-Fetch-Site. The cookie of a cross-site
      // request is ignored.
      const site = req.headers['sec-fetch-site'] ?? 'same-origin'
      const token = site === 'same-origin' ? readCookie(req, tokenCookie) : undefined
      delete req.headers.cookie
      if (token !== undefined && req.headers.authorization === undefined) {
        req.headers.authorization = `Bearer ${token}`
      }
      // With the new path, the request passes the handler chain like a request of the platform API.
      if (records !== undefined) req.url = targets.records + query
      else if (values !== undefined) req.url = targets.values + query
      else if (resources !== undefined) req.url = targets.resources + resources + query
      else req.url = `${targets.logging}${within}sessionrecordings${name}${query}`
    },
    handles: path => path === '/logs' || path.startsWith('/logs/'),
    isAudited: path => path === '/logs/callback' || path === '/logs/logout',
    async handle(exchange) {
      try {
        await respond(exchange)
      } catch (error) {
        // Browsers show the response to the user, except to the script, which parses a Status.
        if (!(error instanceof Status) || exchange.info.path.startsWith('/logs/api/')) throw error
        for (const [name, value] of Object.entries(error.headers)) exchange.res.setHeader(name, value)
        documents.sendProblem(exchange.res, error.code, error.message)
      }
    },
  }

  async function respond(exchange: Exchange): Promise<void> {
    const { req, res, info } = exchange
    const { path } = info
    if (path === '/logs/login') return login.begin(exchange)
    if (path === '/logs/callback') return login.callback(exchange)
    if (path === '/logs/logout') return login.logout(exchange)
    if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD'])
    if (!documents.send(req, res, path)) throw unknownResource(`Page ${path.slice(0, 200)} not found.`)
  }
}
