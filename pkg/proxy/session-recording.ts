import { randomUUID } from 'node:crypto'
import { Status } from '../apierrors/status.ts'
import type { AuthenticatedExchange } from '../apirequest/request-context.ts'
import type { ClientAddress } from '../httpserver/request/client-address.ts'
import { createWebSocketTap } from '../httpserver/web-socket-tap.ts'
import type { Policies } from '../recording/policy.ts'
import type { Recorder, Recording } from '../recording/recorder.ts'
import { type ChannelCodec, channelCodec, channels, parseTerminalSize } from '../recording/remote-command.ts'
import type { Session } from '../recording/session.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { HeaderLines } from './headers.ts'
import type { OpenTaps, Taps } from './upgrade.ts'

export type SessionRecordingOptions = {
  readonly policies: Policies
  readonly recorder: Recorder
  readonly clientAddress: ClientAddress
  readonly logger: Logger
}

export type SessionRecording = {
  /**
   * Returns how an upgrade is recorded; undefined if it is not.
   *
   * @throws Status 403 if its protocol cannot be, 503 if the log store is not available
   */
  readonly begin: (exchange: AuthenticatedExchange) => Promise<OpenTaps | undefined>
  /**
   * Refuses what runs commands in containers by the kubelet itself, past the recording.
   *
   * @throws Status 403
   */
  readonly assertNotBypassed: (exchange: AuthenticatedExchange) => void
}

const recorded = new Set(['exec', 'attach'])
// kube-apiserver sends at most 32 KiB; a message of the client is only read for the size of its
// terminal.
const maxMessageBytes = 32 * 1024 * 1024

/** Records the sessions that a policy selects. */
export function createSessionRecording(options: SessionRecordingOptions): SessionRecording {
  const { policies, recorder } = options
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
          `the session is recorded (policy ${JSON.stringify(policy)}), which takes a client that uses WebSocket, such as kubectl 1.31 or later`,
        )
      }
      await recorder.check()
      return lines => openTaps(options, exchange, policy, lines)
    },
    assertNotBypassed(exchange) {
      const { info, req, upgrade } = exchange
      if (info.resource !== 'nodes' || info.subresource !== 'proxy') return
      const isRead = upgrade === undefined && (req.method === 'GET' || req.method === 'HEAD')
      if (isRead || !policies.concern(usersOf(exchange))) return
      throw forbidden(
        'sessions of this user are recorded, and commands that the kubelet runs cannot be: use exec of the pod',
      )
    },
  }
}

async function openTaps(
  { recorder, clientAddress, logger }: SessionRecordingOptions,
  exchange: AuthenticatedExchange,
  policy: string,
  lines: HeaderLines,
): Promise<Taps> {
  const codec = channelCodec(headerOf(lines, 'sec-websocket-protocol'))
  if (codec === undefined || headerOf(lines, 'sec-websocket-extensions') !== '')
    throw new Status(
      502,
      'ServiceUnavailable',
      'kube-apiserver has chosen a protocol that cannot be recorded',
    )
  const session = toSession(exchange, policy, clientAddress(exchange.req))
  const recording = await recorder.start(session)
  logger.info(
    { recording: session.id, user: session.user, policy, auditID: session.auditID },
    'session recorded',
  )
  return {
    greeting: greetingOf(exchange, session, codec),
    fromClient: createWebSocketTap({
      ...{ sender: 'client', maxMessageBytes },
      receive: message => void readResize(codec, recording, message),
    }),
    fromServer: createWebSocketTap({
      ...{ sender: 'server', maxMessageBytes },
      receive: message => readOutput(codec, recording, message),
    }),
    closed() {
      recording
        .end()
        .catch(err => logger.error({ err, recording: session.id }, 'failed to store the end of a recording'))
    },
  }
}

function readOutput(codec: ChannelCodec, recording: Recording, message: Buffer): Promise<void> | undefined {
  const { channel, data } = codec.decode(message) ?? {}
  if (data === undefined) return undefined
  if (channel === channels.stdout) return recording.output('stdout', data)
  return channel === channels.stderr ? recording.output('stderr', data) : undefined
}

function readResize(codec: ChannelCodec, recording: Recording, message: Buffer): void {
  const { channel, data } = codec.decode(message) ?? {}
  const size = channel === channels.resize && data !== undefined ? parseTerminalSize(data) : undefined
  if (size !== undefined) recording.resize(size.width, size.height)
}

/** Announces the recording on a stream that the caller reads. */
function greetingOf({ query }: AuthenticatedExchange, { policy, tty }: Session, codec: ChannelCodec): Buffer {
  const text = `This session is recorded (policy ${policy}).`
  if (tty) return codec.encode(channels.stdout, `${text}\r\n`)
  return query.isTrue('stderr') ? codec.encode(channels.stderr, `${text}\n`) : Buffer.alloc(0)
}

function toSession(exchange: AuthenticatedExchange, policy: string, sourceIP: string): Session {
  const { info, identity, impersonator, query, id } = exchange
  return {
    id: randomUUID(),
    namespace: info.namespace,
    pod: info.name,
    container: query.first('container') ?? '',
    subresource: info.subresource,
    command: query.getAll('command'),
    tty: query.isTrue('tty'),
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

function headerOf(lines: HeaderLines, wanted: string): string {
  const at = lines.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === wanted)
  return at < 0 ? '' : (lines[at + 1] ?? '').trim()
}

function forbidden(message: string): Status {
  return new Status(403, 'Forbidden', message)
}
