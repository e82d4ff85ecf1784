import { Status, unavailable } from '../../apierrors/status.ts'
import { refuseOverrides } from '../../apirequest/ambiguous-headers.ts'
import type { AuthenticatedExchange, Handler } from '../../apirequest/request-context.ts'
import { isPlatformPrefix } from '../../apirequest/request-info.ts'
import type { RestConfig } from '../../kubeclient/config/rest-config.ts'
import type { HeaderLines } from '../headers.ts'
import { createKubeProxy, type KubeServer } from '../kube.ts'
import { createKubeConnections } from '../kube-connections.ts'
import { forwardUpgrade, kubeUpgrade } from '../upgrade.ts'
import type { Member } from './member.ts'
import { toMemberIdentity } from './member-identity.ts'

export type MemberProxy = {
  /** Proxies a request or an upgrade as its caller. @throws Status */
  readonly forward: Handler
  /** Breaks all requests off, upgraded connections too. */
  readonly close: () => void
}

// A member that is slow must not use up what others need.
const maxConnections = { short: 64, long: 1_024 }
// RFC 9110 section 7.6.3: what has passed one Kapis on its way to a member does not pass another.
const pseudonym = 'kapis-clusters'
export const via: HeaderLines = ['Via', `1.1 ${pseudonym}`]
/** What a server of another origin could do to browsers with a page of Kapis. */
const withheld: ReadonlySet<string> = new Set([
  'audit-id',
  'set-cookie',
  'clear-site-data',
  'strict-transport-security',
  'alt-svc',
  'service-worker-allowed',
])

/** Connects to a member: its kube-apiserver, and its Kapis for paths of the platform API. */
export function createMemberProxy({ name, kube, kapis }: Member): MemberProxy {
  const upgraded = new Set<AuthenticatedExchange>()
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
      refusal: (code: number, lines: HeaderLines) => refuseRedirect(where, code, lines),
    } satisfies KubeServer
    return { server, proxy: createKubeProxy(server) }
  }
  const toKube = connect(kube, 'kube-apiserver')
  const toKapis = 'problem' in kapis ? undefined : connect(kapis, 'Kapis')
  const problem = 'problem' in kapis ? kapis.problem : ''
  return {
    async forward(exchange) {
      const { req, info, upgrade } = exchange
      refuseOverrides(req)
      if (hasPassed(req.headers.via)) throw loop(where)
      const target = isPlatformPrefix(info.prefix) ? toKapis : toKube
      if (target === undefined) throw unavailable(`${where} does not serve /${info.prefix}: ${problem}`)
      if (upgrade === undefined) return target.proxy(exchange)
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

/** Whether a request has passed a Kapis on its way to a member cluster. */
function hasPassed(lines: string | undefined): boolean {
  return lines?.split(',').some(line => line.trim().split(/\s+/)[1] === pseudonym) === true
}

/** 508 of RFC 5842 section 7.2. */
export function loop(where: string): Status {
  return new Status(
    508,
    'InternalError',
    `${where} is reached by way of a cluster that Kapis serves itself`,
    {
      headers: { 'proxy-status': 'kapis; error=proxy_loop_detected' },
    },
  )
}

/** Clients would follow it within this cluster, or with their credential to another host (CVE-2022-3172). */
function refuseRedirect(where: string, code: number, lines: HeaderLines): Status | undefined {
  const hasLocation = lines.some((line, i) => i % 2 === 0 && line.toLowerCase() === 'location')
  if (code < 300 || code > 399 || !hasLocation) return undefined
  const message = `${where} redirects, which is not supported: request the path with a trailing slash`
  return new Status(502, 'ServiceUnavailable', message, {
    headers: { 'proxy-status': 'kapis; error=http_protocol_error' },
  })
}
