import { badRequest, methodNotAllowed, unknownResource } from '../../../apierrors/status.ts'
import type { AuthenticatedExchange, Handler } from '../../../apirequest/request-context.ts'
import { isPlatformPrefix, type RequestInfo, toResourceInfo } from '../../../apirequest/request-info.ts'
import { assertMayUpgrade } from '../../../authz/token-scope.ts'
import type { WebSocketConnection, WebSocketEvents } from '../../../http/web-socket-client.ts'
import { isWebSocket, readHandshake } from '../../../httpserver/websocket/handshake.ts'
import { openWebSocket } from '../../../httpserver/websocket/web-socket.ts'
import type { ExecTarget } from '../../../kubeclient/pod-channels.ts'
import { findRoute } from '../../../openapi/route.ts'
import { startSession } from './session.ts'

/** Runs a command in a container as the caller. @throws Status of kube-apiserver */
export type OpenExec = (
  exchange: AuthenticatedExchange,
  target: ExecTarget,
  events: WebSocketEvents,
) => Promise<WebSocketConnection>

export type Terminal = {
  readonly serve: Handler
  /** Returns the attributes of a terminal, which are those of exec; otherwise undefined. */
  readonly attributesOf: (exchange: AuthenticatedExchange) => RequestInfo | undefined
}

const shells = ['bash', 'sh']
// The console sends a paste as one message.
const maxMessageBytes = 1024 * 1024
const nodeTerminals =
  'terminals of nodes are not part of Kapis: use `kubectl debug node/<name> -it --image=busybox`'

const execPath = '/namespaces/{namespace}/pods/{pod}/exec'

/**
 * Serves `GET /kapis/terminal.<group domain>/v1alpha2/namespaces/{namespace}/pods/{pod}/exec`: a
 * WebSocket with the message format of KubeSphere 3.4, connected to exec of the pod as the caller.
 *
 * @throws Status 400, 404, 405, and those of kube-apiserver
 */
export function createTerminal(options: {
  readonly groupDomain: string
  readonly openExec: OpenExec
}): Terminal {
  const { groupDomain, openExec } = options

  function attributesOf({ info }: AuthenticatedExchange): RequestInfo | undefined {
    const { prefix, group, version, parts } = info
    const isHere = isPlatformPrefix(prefix) && group === `terminal.${groupDomain}` && version === 'v1alpha2'
    if (!isHere || findRoute([execPath], parts) === undefined) return undefined
    const [, namespace = '', , name = ''] = parts
    return toResourceInfo({ verb: 'create', resource: 'pods', subresource: 'exec', namespace, name })
  }

  async function serve(exchange: AuthenticatedExchange): Promise<void> {
    const { req, res, query, upgrade: head, markLongRunning } = exchange
    const info = attributesOf(exchange)
    if (info === undefined)
      throw unknownResource(exchange.info.parts[0] === 'nodes' ? nodeTerminals : undefined)
    if (req.method !== 'GET') throw methodNotAllowed(['GET'])
    const shell = query.get('shell') ?? ''
    if (shell !== '' && !shells.includes(shell))
      throw badRequest(`invalid shell ${JSON.stringify(shell)}: expected ${shells.join(' or ')}`)
    if (head === undefined || !isWebSocket(req)) throw badRequest('a terminal requires a WebSocket')
    const protocol = readHandshake(req)
    assertMayUpgrade(info, exchange.identity)
    const container = query.get('container') ?? ''
    const session = await startSession(
      (shell === '' ? shells : [shell]).map(command => {
        const target = { namespace: info.namespace, pod: info.name, container, command }
        return (events: WebSocketEvents) => openExec(exchange, target, events)
      }),
    )
    markLongRunning?.()
    const out = openWebSocket({ req, res }, { protocol, head, receive: session.receive, maxMessageBytes })
    session.attach(out)
    await new Promise(resolve => out.once('close', resolve))
  }

  return { serve, attributesOf }
}
