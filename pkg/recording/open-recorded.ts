import type { WebSocketConnection, WebSocketEvents } from '../http/web-socket-client.ts'
import { channels } from '../kubeclient/pod-channels.ts'
import type { ReadAhead } from './read-ahead.ts'
import type { Recording } from './recorder.ts'
import { parseTerminalSize } from './remote-command.ts'

type RecordedConnection = {
  /** Opens the exec or attach connection to the pod. */
  readonly open: (events: WebSocketEvents) => Promise<WebSocketConnection>
  readonly start: () => Promise<Recording>
  readonly events: WebSocketEvents
  readonly readAhead: Pick<ReadAhead, 'hold' | 'release'>
  /** Text that the client receives before any output of the container. */
  readonly notice: string
  /** Called with the error if the end of the recording cannot be stored. */
  readonly failed: (error: unknown) => void
}

/**
 * Opens exec or attach of a pod and records it. Each message is passed on after it is recorded; if
 * recording fails, the connection is closed. Output is read ahead of the log store: when
 * kube-apiserver has closed a connection, the next message of the client resets it, and what has not
 * been read by then is lost.
 *
 * @throws Status
 */
export async function openRecorded({
  open,
  start,
  events,
  readAhead,
  notice,
  failed,
}: RecordedConnection): Promise<WebSocketConnection> {
  const started = Promise.withResolvers<Recording>()
  let connection: WebSocketConnection | undefined
  /** Whether the client has paused the connection. */
  let isPaused = false
  /** Whether too much output waits to be recorded. */
  let isBehind = false
  let waiting = 0
  let last: Promise<void> = started.promise.then(() =>
    events.message(Buffer.concat([Buffer.of(channels.stdout), Buffer.from(notice)])),
  )
  last.catch(() => undefined)

  async function pass(data: Buffer): Promise<void> {
    const recording = await started.promise
    if (data[0] === channels.stdout) await recording.output('stdout', data.subarray(1))
    if (data[0] === channels.stderr) await recording.output('stderr', data.subarray(1))
    events.message(data)
  }

  const opened = await open({
    message(data) {
      waiting++
      if (!readAhead.hold(data.length)) {
        isBehind = true
        connection?.pause()
      }
      last = last
        .then(() => pass(data))
        .finally(() => {
          readAhead.release(data.length)
          if (--waiting > 0) return
          isBehind = false
          if (!isPaused) connection?.resume()
        })
      last.catch(() => connection?.close())
    },
    async closed() {
      const recording = await started.promise.catch(() => undefined)
      if (recording === undefined) return
      await last.catch(() => undefined)
      events.closed()
      await recording.end().catch(failed)
    },
  })
  connection = opened
  // Messages may have arrived with the handshake, before the connection could be paused.
  if (isBehind) opened.pause()
  try {
    started.resolve(await start())
  } catch (error) {
    started.reject(error)
    opened.close()
    throw error
  }
  const recording = await started.promise
  return {
    async send(data) {
      const size = data[0] === channels.resize ? parseTerminalSize(data.subarray(1)) : undefined
      try {
        if (size !== undefined) await recording.resize(size.width, size.height)
      } catch {
        return opened.close()
      }
      await opened.send(data)
    },
    pause() {
      isPaused = true
      opened.pause()
    },
    resume() {
      isPaused = false
      if (!isBehind) opened.resume()
    },
    close: opened.close,
  }
}
