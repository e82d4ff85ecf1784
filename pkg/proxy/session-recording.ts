import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { Status } from '../apierrors/status.ts'
import type { AuthenticatedExchange } from '../apirequest/request-context.ts'
import { isPlatformPrefix } from '../apirequest/request-info.ts'
import type { WebSocketConnection, WebSocketEvents } from '../http/web-socket-client.ts'
import type { ClientAddress } from '../httpserver/request/client-address.ts'
import { createWebSocketTap } from '../httpserver/websocket/tap.ts'
import { channels, type ExecTarget } from '../kubeclient/pod-channels.ts'
import { openRecorded } from '../recording/open-recorded.ts'
import type { Policies } from '../recording/policy.ts'
import { createReadAhead } from '../recording/read-ahead.ts'
import type { Recorder, Recording } from '../recording/recorder.ts'
import { type ChannelCodec, channelCodec, parseTerminalSize } from '../recording/remote-command.ts'
import type { Session } from '../recording/session.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { HeaderLines } from './headers.ts'
import type { OpenTaps, Taps } from './upgrade.ts'

export type SessionRecordingOptions = {
  readonly policies: Policies
  readonly recorder: Recorder
  readonly clientAddress: ClientAddress
  readonly logger: Logger
  /** Called when the end of a recording cannot be stored. */
  readonly failed: () => void
}

export type SessionRecording = {
  /**
   * Returns how to record an upgrade; undefined if no policy selects it.
   *
   * @throws Status 403 if a policy selects the session but its protocol cannot be recorded, 503 if
   * the log store is not available
   */
  readonly begin: (exchange: AuthenticatedExchange) => Promise<OpenTaps | undefined>
  /** Opens a terminal in a container, and records it if a policy selects it. @throws Status */
  readonly openExec: (
    exchange: AuthenticatedExchange,
    target: ExecTarget,
    connection: {
      readonly open: (events: WebSocketEvents) => Promise<WebSocketConnection>
      readonly events: WebSocketEvents
    },
  ) => Promise<WebSocketConnection>
  /**
   * Rejects requests that run commands in containers through the kubelet or in a member cluster,
   * since that would bypass the recording.
   *
   * @throws Status 403
   */
  readonly assertNotBypassed: (exchange: AuthenticatedExchange) => void
}

const recorded = new Set(['exec', 'attach'])
// kube-apiserver sends at most 32 KiB; clients may send input in larger messages.
const maxMessageBytes = 1024 * 1024
// Output that waits to be recorded, of all sessions.
const maxAheadBytes = 64 * 1024 * 1024

export function createSessionRecording(options: SessionRecordingOptions): SessionRecording {
  const { policies, recorder } = options
  const readAhead = createReadAhead(maxAheadBytes)
  return {
    async begin(exchange) {
      const { info, req } = exchange
      const { prefix, group, resource, subresource, namespace } = info
      if (prefix !== 'api' || group !== '' || resource !== 'pods' || !recorded.has(subresource))
        return undefined
      const policy = policies.find(usersOf(exchange), namespace)
      if (policy === undefined) return undefined
      if (req.headers.upgrade?.toLowerCase() !== 'websocket') {
        throw forbidden(
          `the session is recorded (policy ${JSON.stringify(policy)}), which requires a client that uses WebSocket, such as kubectl 1.31 or later`,
        )
      }
      await recorder.check()
      return lines => openTaps(options, { exchange, policy, lines, ahead: readAhead.createStream() })
    },
    async openExec(exchange, target, { open, events }) {
      const policy = policies.find(usersOf(exchange), target.namespace)
      if (policy === undefined) return open(events)
      await recorder.check()
      const { command, ...place } = target
      const of = { ...place, subresource: 'exec', command: [command], tty: true }
      const session = toSession(exchange, of, policy, options.clientAddress(exchange.req))
      return openRecorded({
        ...{ open, events, readAhead, notice: `${noticeOf(policy)}\r\n` },
        start: () => startRecording(options, session),
        failed: error => reportEnd(options, session, error),
      })
    },
    assertNotBypassed(exchange) {
      const { info, req, upgrade } = exchange
      // Any upgrade of the platform API may be a terminal.
      const isSession =
        recorded.has(info.subresource) || (upgrade !== undefined && isPlatformPrefix(info.prefix))
      if (info.cluster !== '' && isSession && policies.concern(usersOf(exchange)))
        throw forbidden(
          'sessions of this user must be recorded, which is not possible in a member cluster: connect to the member itself',
        )
      if (info.resource !== 'nodes' || info.subresource !== 'proxy') return
      const isRead = upgrade === undefined && (req.method === 'GET' || req.method === 'HEAD')
      if (isRead || !policies.concern(usersOf(exchange))) return
      throw forbidden(
        'sessions of this user must be recorded, which is not possible for commands that the kubelet runs: use exec of the pod',
      )
    },
  }
}

async function openTaps(
  options: SessionRecordingOptions,
  {
    exchange,
    policy,
    lines,
    ahead,
  }: {
    readonly exchange: AuthenticatedExchange
    readonly policy: string
    readonly lines: HeaderLines
    readonly ahead: Duplex
  },
): Promise<Taps> {
  const codec = channelCodec(headerOf(lines, 'sec-websocket-protocol'))
  if (codec === undefined || headerOf(lines, 'sec-websocket-extensions') !== '')
    throw new Status(
      502,
      'ServiceUnavailable',
      'kube-apiserver selected a subprotocol that cannot be recorded',
    )
  const { info, query, req } = exchange
  const of = {
    ...{ namespace: info.namespace, pod: info.name, subresource: info.subresource },
    container: query.first('container') ?? '',
    command: query.getAll('command'),
    tty: query.isTrue('tty'),
  }
  const session = toSession(exchange, of, policy, options.clientAddress(req))
  const recording = await startRecording(options, session)
  let reason = ''
  const tap = (sender: 'client' | 'server', receive: (message: Buffer) => Promise<void> | undefined) =>
    createWebSocketTap({ sender, maxMessageBytes, receive }).once('error', ({ message }) => {
      reason ||= `cannot record what the ${sender} sent: ${message}`
    })
  return {
    ahead,
    greeting: greetingOf(exchange, session, codec),
    fromClient: tap('client', message => readResize(codec, recording, message)),
    fromServer: tap('server', message => readOutput(codec, recording, message)),
    closed() {
      recording.end(reason).catch(error => reportEnd(options, session, error))
    },
  }
}

async function startRecording(
  { recorder, logger }: SessionRecordingOptions,
  session: Session,
): Promise<Recording> {
  const recording = await recorder.start(session)
  const { id, user, policy, auditID } = session
  logger.info({ recording: id, user, policy, auditID }, 'session recording started')
  return recording
}

function reportEnd({ logger, failed }: SessionRecordingOptions, { id }: Session, err: unknown): void {
  failed()
  logger.error({ err, recording: id }, 'failed to store the end of a recording')
}

function noticeOf(policy: string): string {
  return `This session is recorded (policy ${policy}).`
}

function readOutput(codec: ChannelCodec, recording: Recording, message: Buffer): Promise<void> | undefined {
  const { channel, data } = codec.decode(message) ?? {}
  if (data === undefined) return undefined
  if (channel === channels.stdout) return recording.output('stdout', data)
  return channel === channels.stderr ? recording.output('stderr', data) : undefined
}

function readResize(codec: ChannelCodec, recording: Recording, message: Buffer): Promise<void> | undefined {
  const { channel, data } = codec.decode(message) ?? {}
  const size = channel === channels.resize && data !== undefined ? parseTerminalSize(data) : undefined
  return size && recording.resize(size.width, size.height)
}

/** Encodes the notice of the recording for an output stream that the client reads. */
function greetingOf({ query }: AuthenticatedExchange, { policy, tty }: Session, codec: ChannelCodec): Buffer {
  const text = noticeOf(policy)
  if (tty) return codec.encode(channels.stdout, `${text}\r\n`)
  return query.isTrue('stderr') ? codec.encode(channels.stderr, `${text}\n`) : Buffer.alloc(0)
}

type Target = Pick<Session, 'namespace' | 'pod' | 'container' | 'subresource' | 'command' | 'tty'>

function toSession(
  { identity, impersonator, id }: AuthenticatedExchange,
  target: Target,
  policy: string,
  sourceIP: string,
): Session {
  return {
    id: randomUUID(),
    ...target,
    user: identity.username,
    groups: identity.groups,
    impersonator: impersonator?.username ?? '',
    sourceIP,
    policy,
    auditID: id,
    startTimestamp: new Date().toISOString(),
  }
}

function usersOf({ identity, impersonator }: AuthenticatedExchange) {
  return impersonator === undefined ? [identity] : [identity, impersonator]
}

function headerOf(lines: HeaderLines, lowerName: string): string {
  const at = lines.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === lowerName)
  return at < 0 ? '' : (lines[at + 1] ?? '').trim()
}

function forbidden(message: string): Status {
  return new Status(403, 'Forbidden', message)
}
