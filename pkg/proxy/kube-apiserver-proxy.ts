import { badRequest, Status } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { mayBeLongRunning } from '../apirequest/long-running.ts'
import type { AuthenticatedExchange, Handler } from '../apirequest/request-context.ts'
import { formatTarget } from '../apirequest/target.ts'
import type { RestConfig } from '../kubeclient/config/rest-config.ts'
import { parseStatus } from '../kubeclient/errors/parse-status.ts'
import { isNotYetReady } from '../kubeclient/errors/service-account-errors.ts'
import { forwardableHeaders, type HeaderLines } from './headers.ts'
import { toImpersonation } from './identity-headers.ts'
import type { KubeConnections, KubeTransport } from './kube-connections.ts'
import { type ErrorByBody, relay } from './reverse-proxy.ts'
import { upstreamFailure } from './upstream-failure.ts'
import { checkHeaders } from './validate-request.ts'

/** A server that impersonates callers for Kapis: kube-apiserver, or another Kapis. */
export type KubeServer = {
  readonly endpoint: RestConfig
  readonly connections: KubeConnections
  /** Name of the account of the credential in error messages. */
  readonly name: string
  /** Account of the credential in error messages. */
  readonly account: string
  /** Returns the identity to impersonate; by default the caller. @throws Status 403 */
  readonly identityOf?: (identity: Identity) => Identity
  /** Headers that are added to each request. */
  readonly headers?: HeaderLines
  /** Names of response headers that are not passed on, in lower case. */
  readonly withheld?: ReadonlySet<string>
  /** Headers that are added to each response. */
  readonly added?: HeaderLines
  /** Returns an error to send in place of a response; undefined to pass the response on. */
  readonly rejection?: (code: number, lines: HeaderLines) => Status | undefined
}

/** Serves requests for pods that kube-apiserver no longer has, such as reads of stored logs. */
export type DeletedPodLogs = {
  /** Returns whether a request is of a kind that can be served for a deleted pod. */
  readonly asks: (exchange: AuthenticatedExchange) => boolean
  /** Sends a response; resolves to false if it has sent none. @throws Status */
  readonly respond: (exchange: AuthenticatedExchange) => Promise<boolean>
}

/**
 * Proxies a request to kube-apiserver as the caller, with the response unchanged.
 *
 * @throws Status 502, 503 or 504 if kube-apiserver is not responding
 */
export function createKubeProxy(server: KubeServer, deletedPodLogs?: DeletedPodLogs): Handler {
  const { connections: upstreams } = server
  const target = toTarget(server)
  const checkedOf = createCheckedHeaders(server)
  const forward = (
    exchange: AuthenticatedExchange,
    { connections, credential }: KubeTransport,
    isLive: boolean,
  ) => {
    const headers = callerHeaders(exchange, server)
    const checked = checkedOf(exchange.identity, credential)
    const insteadOf404 = deletedPodLogs?.asks(exchange)
      ? async (body: Buffer) => isPodNotFound(body, exchange) && deletedPodLogs.respond(exchange)
      : undefined
    return relay({ ...target(exchange), connections, headers, checked, isLive, insteadOf404 }, exchange)
  }
  return exchange => {
    const isLive = mayBeLongRunning(exchange)
    // Logs that are followed may send no headers for hours, so no timeout applies here either.
    if (isLive) exchange.markLongRunning?.()
    const line = upstreams.line(isLive ? 'long' : 'short')
    return line instanceof Promise
      ? line.then(ready => forward(exchange, ready, isLive))
      : forward(exchange, line, isLive)
  }
}

/** Returns a function for the properties that proxied requests and upgrades share. */
export function toTarget(server: KubeServer) {
  const { endpoint, name: upstream, rejection, withheld, added } = server
  const base = basePath(endpoint)
  const errorByBody = createErrorByBody(server)
  const fixed = {
    upstream,
    errorByBody,
    ...(rejection && { rejection }),
    ...(withheld && { withheld }),
    ...(added && { added }),
  }
  return (exchange: AuthenticatedExchange) => {
    if (base !== '') assertStaysBelow(exchange)
    return { ...fixed, path: base + formatTarget(exchange) }
  }
}

/**
 * Rejects relative segments, which kube-apiserver passes on below a proxy subresource. A gateway
 * with several clusters below one host (as Rancher) may resolve them before: the request would
 * reach another API of the gateway, with the credential of Kapis.
 *
 * @throws Status 400
 */
function assertStaysBelow({ rawPath }: Pick<AuthenticatedExchange, 'rawPath'>): void {
  const path = rawPath.replace(/%(?:25)*2e/gi, '.').replace(/%(?:25)*(?:2f|5c)|\\/gi, '/')
  if (/\/\.{1,2}(?:[/;]|%(?:25)*3b|$)/i.test(path))
    throw badRequest(
      'the path contains a relative segment ("." or ".."), which is not supported for a kube-apiserver below a path',
    )
}

/**
 * Returns a function for the impersonation headers of a caller and the credential of Kapis. Headers
 * are cached and validated once per caller.
 */
function createCheckedHeaders({
  name,
  identityOf = same,
}: KubeServer): (identity: Identity, credential: HeaderLines) => HeaderLines {
  const known = new WeakMap<Identity, { readonly credential: HeaderLines; readonly lines: HeaderLines }>()
  return (identity, credential) => {
    const found = known.get(identity)
    if (found?.credential === credential) return found.lines
    const lines = [...toImpersonation(identityOf(identity)), ...credential]
    try {
      checkHeaders(lines)
    } catch (error) {
      throw upstreamFailure(name, error)
    }
    known.set(identity, { credential, lines })
    return lines
  }
}

// Node.js has already sent the 100 response for Expect.
const notForward: ReadonlySet<string> = new Set(['authorization', 'cookie', 'host', 'expect', 'audit-id'])

/** The headers of a request to kube-apiserver, without the credential of Kapis. */
export function kubeApiserverHeaders(exchange: AuthenticatedExchange, server: KubeServer): HeaderLines {
  const { identityOf = same } = server
  return [...callerHeaders(exchange, server), ...toImpersonation(identityOf(exchange.identity))]
}

function callerHeaders({ req, id }: AuthenticatedExchange, { headers: added }: KubeServer): HeaderLines {
  const headers = forwardableHeaders(req, notForward)
  headers.push('Audit-Id', id)
  if (added !== undefined) headers.push(...added)
  return headers
}

function same(identity: Identity): Identity {
  return identity
}

/**
 * Converts errors that concern Kapis rather than the caller to a 503, so that callers retry. A 401
 * means that the credential of Kapis has expired, or that kube-apiserver is starting. A 403 may
 * mean that kube-apiserver does not have the permissions of Kapis yet, or cannot evaluate admission
 * yet.
 */
export function createErrorByBody({
  endpoint,
  account,
}: {
  readonly endpoint: Pick<RestConfig, 'credentialRejected'>
  readonly account: string
}): ErrorByBody {
  return (code, body) => {
    // The message is readable in JSON, YAML, which breaks lines, and protobuf, except for quotes. The
    // match on impersonation is safe: only the proxy sets impersonation headers.
    const text = body.toString('latin1').replace(/\s+/g, ' ')
    if (code === 401) {
      // A 401 or 403 of a program in a Pod, reached through the proxy subresource, is passed on.
      if (!isKubeStatus(text) || !text.includes('Unauthorized')) return undefined
      endpoint.credentialRejected()
      return notLetAct(account, body)
    }
    const isAboutKapis =
      /forbidden: User \\?"[^"\\]+\\?" cannot impersonate/.test(text) || isNotYetReady(text)
    return isAboutKapis ? notLetAct(account, body) : undefined
  }
}

/**
 * Reports whether the pod of the request does not exist. A 404 implies that kube-apiserver has
 * authorized the request and validated its parameters.
 */
function isPodNotFound(body: Buffer, { info }: AuthenticatedExchange): boolean {
  const { reason, details } = parseStatus(body) ?? {}
  return reason === 'NotFound' && details?.kind === 'pods' && details.name === info.name
}

function isKubeStatus(text: string): boolean {
  // kube-apiserver indents JSON for curl and browsers, and with pretty=true.
  const isJson = /^\{ ?"kind": ?"Status", ?"apiVersion": ?"v1"/.test(text)
  return isJson || /^apiVersion: v1 (.* )?kind: Status /.test(text) || text.startsWith('k8s\0')
}

function notLetAct(account: string, body: Buffer): Status {
  const message = `${account} is not allowed to impersonate the caller`
  return new Status(503, 'ServiceUnavailable', message, {
    cause: new Error(body.toString('utf8').slice(0, 1_000)),
    details: { retryAfterSeconds: 1 },
    headers: { 'retry-after': '1', 'proxy-status': 'kapis; error=http_request_denied' },
  })
}

/** The path of the URL of kube-apiserver, without a trailing slash; '' for the root. */
function basePath({ url }: RestConfig): string {
  return url.pathname.replace(/\/$/, '')
}
