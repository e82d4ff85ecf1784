import type { IncomingMessage } from 'node:http'
import { isStatus, unavailable } from '../apierrors/status.ts'
import type { Exchange, Handler } from '../apirequest/request-context.ts'
import { formatTarget } from '../apirequest/target.ts'
import { createPool } from '../http/pool.ts'
import { html } from '../httpserver/response/html-template.ts'
import { renderError } from '../httpserver/response/render-error.ts'
import { send } from '../httpserver/response/respond.ts'
import type { Logger } from '../telemetry/logger.ts'
import { forwardableHeaders } from './headers.ts'
import { relay } from './reverse-proxy.ts'

export type OAuthForwardOptions = {
  /** Unix socket of kapis-oauth. */
  readonly socket: string
  /** Returns the verified client address, by which kapis-oauth counts failed logins. */
  readonly clientAddress: (req: IncomingMessage) => string
  readonly logger: Logger
  /** Timeout for the response headers of kapis-oauth, and between two parts of the body. */
  readonly silenceMs?: number
  /** The path to request from kapis-oauth, if it differs from the path of the request. */
  readonly path?: string
  /**
   * Format of errors while kapis-oauth is not responding: RFC 6749 for OAuth paths, else a Status.
   */
  readonly errors?: 'oauth' | 'status'
}

const usualSilenceMs = 30_000
// The Location header of a redirect may contain a whole authorization request, encoded twice.
const maxResponseHead = 64 * 1024
const doesNotRespond = 'kapis-oauth is not responding'
// X-Request-Id is that of Kapis. Node.js has already sent the 100 response for Expect.
const notForward: ReadonlySet<string> = new Set(['x-request-id', 'expect'])

const rootMetadata = '/.well-known/openid-configuration'
const prefixes = ['/oauth', `${rootMetadata}/oauth`, '/.well-known/oauth-authorization-server']

/**
 * Returns whether a path belongs to the OAuth server. The discovery metadata at the root of the
 * host belongs to it only if the issuer of Kapis has no path (OpenID Connect Discovery section 4).
 * Otherwise it is that of the service account issuer of kube-apiserver.
 */
export function isOAuthPath(path: string, issuer: string): boolean {
  if (path === rootMetadata) return new URL(issuer).pathname === '/'
  return prefixes.some(
    prefix => path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/'),
  )
}

/**
 * Proxies `/oauth/**` to kapis-oauth with streamed bodies. kapis-oauth authenticates callers
 * itself, since their credentials are those of OAuth clients and logins.
 */
export function createOAuthForward(options: OAuthForwardOptions): Handler<Exchange> {
  const silenceMs = options.silenceMs ?? usualSilenceMs
  const connections = createPool(
    new URL('http://localhost'),
    {},
    {
      // 0 means no limit: with a limit, slow uploads could block all logins.
      connections: 0,
      ...{ connectMs: 10_000, headMs: silenceMs, bodyMs: silenceMs, idleMs: 4_000 },
      maxHeadBytes: maxResponseHead,
      socketPath: options.socket,
    },
  )
  return async exchange => {
    const { req, res, id } = exchange
    const headers = listenerHeaders(exchange, options.clientAddress(req))
    const path = options.path ?? formatTarget(exchange)
    try {
      await relay({ connections, path, headers, isLive: false, upstream: 'kapis-oauth' }, exchange)
    } catch (error) {
      if (isStatus(error, 400)) throw error
      const cause = error instanceof Error ? (error.cause ?? error) : error
      options.logger.warn({ id, err: cause }, 'kapis-oauth is not responding')
      if (options.errors === 'status') renderError(res, unavailable(doesNotRespond))
      else if (req.headers.accept?.includes('text/html')) sendUnavailablePage(exchange)
      else sendUnavailable(res)
    }
  }
}

function listenerHeaders({ req, id }: Exchange, clientAddress: string): string[] {
  return [
    ...forwardableHeaders(req, notForward),
    ...['X-Forwarded-For', clientAddress],
    ...['X-Forwarded-Proto', 'encrypted' in req.socket ? 'https' : 'http'],
    ...['X-Forwarded-Host', req.headers.host ?? ''],
    ...['X-Request-Id', id],
  ]
}

/** Sends an error of RFC 6749. Only new logins fail while kapis-oauth is not running. */
function sendUnavailable(res: Exchange['res']): void {
  const body = {
    error: 'temporarily_unavailable',
    error_description: doesNotRespond,
  }
  send(res, 503, Buffer.from(`${JSON.stringify(body)}\n`), {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'retry-after': '1',
  })
}

/** Sends an error page to users who log in, without the style sheet of kapis-oauth. */
function sendUnavailablePage({ req, res }: Exchange): void {
  const again = req.method === 'GET' ? req.url : '/oauth/session'
  const title = 'Login is not available at the moment'
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
</head>
<body>
<main>
<h1>${title}</h1>
<p>Existing logins keep working. Try again in a moment, or go back to the application.</p>
<p><a href="${again}">Try again</a></p>
</main>
</body>
</html>
`
  send(res, 503, Buffer.from(page.text), {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'retry-after': '1',
  })
}
