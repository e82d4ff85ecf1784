import { Status, tooManyRequests, unavailable } from '../../apierrors/status.ts'
import { rejectOverrides } from '../../apirequest/ambiguous-headers.ts'
import { mayBeLongRunning } from '../../apirequest/long-running.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { isPlatformPrefix } from '../../apirequest/request-info.ts'
import type { RestConfig } from '../../kubeclient/config/rest-config.ts'
import type { HeaderLines } from '../headers.ts'
import { createKubeProxy, type KubeServer } from '../kube-apiserver-proxy.ts'
import { createKubeConnections } from '../kube-connections.ts'
import { forwardUpgrade, kubeUpgrade } from '../upgrade.ts'
import type { Member } from './member.ts'
import { toMemberIdentity } from './member-identity.ts'

export type MemberProxy = {
  /** Proxies a request or an upgrade as the caller. @throws Status */
  readonly forward: Handler
  /** Aborts all requests, including upgraded connections. */
  readonly close: () => void
}

// Limits per member cluster: a slow one must not use up the resources of others.
const maxConnections = { short: 64, long: 1_024 }
// Includes requests that wait for a connection: they occupy slots of limits.requestsInFlight (400)
// until the member responds.
const maxRequests = 100
// RFC 9110 section 7.6.3: this pseudonym marks requests to a member cluster. A Kapis rejects a
// marked request for another member.
const pseudonym = 'kapis-clusters'
export const via: HeaderLines = ['Via', `1.1 ${pseudonym}`]
/**
 * Response headers with which another origin could affect pages of Kapis: what browsers store for an
 * origin (cookies, HSTS, reports to other servers, states of logins, client hints), logins in a dialog
 * of the browser, CORS, redirects and prefetches.
 */
const withheld: ReadonlySet<string> = new Set([
  'audit-id',
  'set-cookie',
  'clear-site-data',
  'strict-transport-security',
  'alt-svc',
  'service-worker-allowed',
  'nel',
  'report-to',
  'reporting-endpoints',
  'www-authenticate',
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'refresh',
  'set-login',
  'accept-ch',
  'secure-session-registration',
  'speculation-rules',
])
// In a document of a member, scripts run without the origin of Kapis (or of a console before it),
// and so without its cookies.
const sandbox: HeaderLines = ['Content-Security-Policy', 'sandbox allow-scripts allow-forms allow-popups']

/** Creates the proxy to a member cluster: to its Kapis, or its kube-apiserver. */
export function createMemberProxy({ name, kube, kapis }: Member): MemberProxy {
  const upgraded = new Set<AuthenticatedExchange>()
  let requests = 0
  const where = `the cluster ${JSON.stringify(name)}`
  const connect = (endpoint: RestConfig, what: string) => {
    const server = {
      endpoint,
      connections: createKubeConnections(endpoint, maxConnections),
      name: `${what} of ${where}`,
      account: `the account of the kubeconfig of ${where}`,
      identityOf: toMemberIdentity,
      headers: via,
      withheld,
      added: sandbox,
      rejection: (code: number, lines: HeaderLines) => rejectRedirect(where, code, lines),
    } satisfies KubeServer
    return { server, proxy: createKubeProxy(server) }
  }
  const toKube = connect(kube, 'kube-apiserver')
  const toKapis = 'problem' in kapis ? undefined : connect(kapis, 'Kapis')
  const problem = 'problem' in kapis ? kapis.problem : ''
  return {
    async forward(exchange) {
      const { req, info, upgrade } = exchange
      rejectOverrides(req)
      if (isLoop(req.headers.via)) throw loopDetected(where)
      const target = isPlatformPrefix(info.prefix) ? toKapis : toKube
      if (target === undefined) throw unavailable(`${where} does not serve /${info.prefix}: ${problem}`)
      if (upgrade === undefined && mayBeLongRunning(exchange)) return target.proxy(exchange)
      if (upgrade === undefined) {
        if (requests >= maxRequests) throw tooManyRequests(`${where} has ${requests} requests in flight`, 1)
        requests++
        try {
          return await target.proxy(exchange)
        } finally {
          requests--
        }
      }
      upgraded.add(exchange)
      try {
        await forwardUpgrade(await kubeUpgrade(target.server, exchange), exchange)
      } finally {
        upgraded.delete(exchange)
      }
    },
    close() {
      for (const to of [toKube, toKapis]) to?.server.connections.close()
      for (const { req } of upgraded) req.socket.destroy()
    },
  }
}

/** Returns whether a Via header shows that Kapis has already forwarded the request. */
export function isLoop(via: string | undefined): boolean {
  return via?.split(',').some(line => line.trim().split(/\s+/)[1] === pseudonym) === true
}

/** Returns the 508 of RFC 5842 section 7.2. */
export function loopDetected(where: string): Status {
  return new Status(
    508,
    'InternalError',
    `${where} is reached by way of a cluster that Kapis serves itself`,
    {
      headers: { 'proxy-status': 'kapis; error=proxy_loop_detected' },
    },
  )
}

/**
 * Rejects redirects. Clients would follow a relative one within this cluster, and send their
 * credential to another host (CVE-2022-3172).
 */
function rejectRedirect(where: string, code: number, lines: HeaderLines): Status | undefined {
  const hasLocation = lines.some((line, i) => i % 2 === 0 && line.toLowerCase() === 'location')
  if (code < 300 || code > 399 || !hasLocation) return undefined
  const message = `${where} redirects, which is not supported: request the path with a trailing slash`
  return new Status(502, 'ServiceUnavailable', message, {
    headers: { 'proxy-status': 'kapis; error=http_protocol_error' },
  })
}
