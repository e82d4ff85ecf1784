import { Status } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import { lastsAtKube } from '../apirequest/long-running.ts'
import type { AuthenticatedExchange, Handler } from '../apirequest/request-context.ts'
import { formatTarget } from '../apirequest/target.ts'
import type { RestConfig } from '../kubeclient/config/rest-config.ts'
import { readStatus } from '../kubeclient/errors/parse-status.ts'
import { isNotYetReady } from '../kubeclient/errors/service-account-errors.ts'
import { forwardableHeaders, type HeaderLines } from './headers.ts'
import { toImpersonation } from './identity-headers.ts'
import type { KubeConnections, KubeTransport } from './kube-connections.ts'
import { type RefusalByBody, relay } from './reverse-proxy.ts'
import { upstreamFailure } from './upstream-failure.ts'
import { checkHeaders } from './validate-request.ts'

const kubeApiserver = 'kube-apiserver'

/** Handles requests for a pod that kube-apiserver does not know. */
export type GonePods = {
  /** Returns whether a request for a pod may be handled. */
  readonly asks: (exchange: AuthenticatedExchange) => boolean
  /** Answers such a request, or resolves to false. @throws Status */
  readonly answer: (exchange: AuthenticatedExchange) => Promise<boolean>
}

/**
 * Proxies a request to kube-apiserver as the caller, with the response unchanged.
 *
 * @throws Status 502, 503 or 504 if kube-apiserver is not responding
 */
export function createKubeProxy(
  endpoint: RestConfig,
  upstreams: KubeConnections,
  gonePods?: GonePods,
): Handler {
  const base = basePath(endpoint)
  const refusalByBody = createRefusalByBody(endpoint)
  const checkedOf = createCheckedHeaders()
  const forward = (
    exchange: AuthenticatedExchange,
    { connections, credential }: KubeTransport,
    isLive: boolean,
  ) => {
    const path = base + formatTarget(exchange)
    const headers = callerHeaders(exchange)
    const checked = checkedOf(exchange.identity, credential)
    const insteadOf404 = gonePods?.asks(exchange)
      ? async (body: Buffer) => isPodNotFound(body, exchange) && gonePods.answer(exchange)
      : undefined
    const to = { connections, path, headers, checked, isLive, upstream: kubeApiserver }
    return relay({ ...to, refusalByBody, insteadOf404 }, exchange)
  }
  return exchange => {
    const isLive = lastsAtKube(exchange)
    // A followed log without lines sends no headers for hours: no timeout applies where
    // kube-apiserver has none.
    if (isLive) exchange.lasts?.()
    const line = upstreams.line(isLive ? 'long' : 'short')
    return line instanceof Promise
      ? line.then(ready => forward(exchange, ready, isLive))
      : forward(exchange, line, isLive)
  }
}

/**
 * The impersonation headers of a caller and the credential of Kapis; cached and validated once per
 * caller.
 */
function createCheckedHeaders(): (identity: Identity, credential: HeaderLines) => HeaderLines {
  const known = new WeakMap<Identity, { readonly credential: HeaderLines; readonly lines: HeaderLines }>()
  return (identity, credential) => {
    const found = known.get(identity)
    if (found?.credential === credential) return found.lines
    const lines = [...toImpersonation(identity), ...credential]
    try {
      checkHeaders(lines)
    } catch (error) {
      throw upstreamFailure(kubeApiserver, error)
    }
    known.set(identity, { credential, lines })
    return lines
  }
}

// Expect is a hop-by-hop header, which Node.js has already answered with 100.
const notForward: ReadonlySet<string> = new Set(['authorization', 'cookie', 'host', 'expect', 'audit-id'])

/** The headers of a request to kube-apiserver, without the credential of Kapis. */
export function kubeApiserverHeaders(exchange: AuthenticatedExchange): HeaderLines {
  return [...callerHeaders(exchange), ...toImpersonation(exchange.identity)]
}

function callerHeaders({ req, id }: AuthenticatedExchange): HeaderLines {
  const headers = forwardableHeaders(req, notForward)
  headers.push('Audit-Id', id)
  return headers
}

/**
 * Converts errors about Kapis itself. A 401 means that its credential has expired, or that
 * kube-apiserver is starting. A 403 may mean that kube-apiserver does not have the permissions of
 * Kapis yet, or cannot evaluate admission yet. Callers get a 503 and retry.
 */
export function createRefusalByBody(endpoint: Pick<RestConfig, 'refused'>): RefusalByBody {
  return (code, body) => {
    // The message is readable in JSON and in protobuf, except for quotes. Only the proxy sets
    // impersonation headers.
    const text = body.toString('latin1')
    if (code === 401) {
      // Programs in Pods, reached through the proxy subresource, have their own 401 and 403
      // responses.
      if (!isKubeStatus(text) || !text.includes('Unauthorized')) return undefined
      endpoint.refused()
      return notLetAct(body)
    }
    const isAboutKapis =
      /forbidden: User \\?"[^"\\]+\\?" cannot impersonate/.test(text) || isNotYetReady(text)
    return isAboutKapis ? notLetAct(body) : undefined
  }
}

/** kube-apiserver has authorized the request by then, and validated its parameters. */
function isPodNotFound(body: Buffer, { info }: AuthenticatedExchange): boolean {
  const { reason, details } = readStatus(body) ?? {}
  return reason === 'NotFound' && details?.kind === 'pods' && details.name === info.name
}

function isKubeStatus(text: string): boolean {
  return text.startsWith('{"kind":"Status","apiVersion":"v1"') || text.startsWith('k8s\0')
}

function notLetAct(body: Buffer): Status {
  return new Status(
    503,
    'ServiceUnavailable',
    'the Kapis service account is not allowed to impersonate the caller',
    {
      cause: new Error(body.toString('utf8').slice(0, 1_000)),
      details: { retryAfterSeconds: 1 },
      headers: { 'retry-after': '1', 'proxy-status': 'kapis; error=http_request_denied' },
    },
  )
}

/** The path of the URL of kube-apiserver, without a trailing slash; '' for the root. */
export function basePath({ url }: RestConfig): string {
  return url.pathname.replace(/\/$/, '')
}
