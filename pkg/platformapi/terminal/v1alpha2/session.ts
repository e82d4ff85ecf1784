import type { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { toStatus } from '../../../apierrors/status.ts'
import type { WebSocketConnection, WebSocketEvents } from '../../../http/web-socket-client.ts'
import { parseStatus } from '../../../kubeclient/errors/parse-status.ts'
import { channels } from '../../../kubeclient/pod-channels.ts'
import { formatTerminalOutput, parseTerminalInput } from './message.ts'

/** Runs a shell in the container. @throws Status */
export type StartShell = (events: WebSocketEvents) => Promise<WebSocketConnection>

export type TerminalSession = {
  readonly receive: (message: string) => Promise<void>
  /** Connects the client, after the WebSocket handshake. */
  readonly attach: (out: Writable) => void
}

const maxTypedLength = 64 * 1024

/**
 * Runs a shell for a terminal. A shell that fails before any output in response to input is assumed
 * to be missing from the container. The next shell is then started, and receives the same input.
 *
 * @param shells at least one; the first is started before the WebSocket handshake
 * @throws Status of kube-apiserver for the first shell
 */
export async function startSession([first, ...others]: readonly StartShell[]): Promise<TerminalSession> {
  const left = [...others]
  const decoder = new StringDecoder('utf8')
  const opened = Promise.withResolvers<Writable>()
  let out: Writable | undefined
  /** Output of the shell before the WebSocket handshake. */
  let early = ''
  let shell: WebSocketConnection | undefined
  let isTyped = false
  let hasOutput = false
  /** Input before the first output. It is sent again to the next shell if this one fails. */
  let typed = ''
  let failure: Failure | undefined
  let size: Buffer | undefined

  function write(line: string): void {
    if (out === undefined) early += line
    else if (!out.destroyed && !out.writableEnded && !out.write(line)) shell?.pause()
  }

  async function next(start: StartShell): Promise<void> {
    failure = undefined
    hasOutput = false
    const started = await start(events)
    shell = started
    if (out?.destroyed === true) return started.close()
    const before = [...(size ? [size] : []), ...(typed === '' ? [] : [toMessage(channels.stdin, typed)])]
    await Promise.all(before.map(message => started.send(message)))
  }

  function keep(text: string): void {
    isTyped = true
    if (hasOutput || left.length === 0) return
    typed += text
    if (typed.length > maxTypedLength) left.splice(0)
  }

  const events: WebSocketEvents = {
    message(data) {
      const body = data.subarray(1)
      if (data[0] === channels.stdout || data[0] === channels.stderr) {
        hasOutput = true
        const text = decoder.write(body)
        if (text !== '') write(formatTerminalOutput('stdout', text))
      } else if (data[0] === channels.error) failure = failureOf(body)
    },
    closed() {
      void end().catch(() => out?.destroy())
    },
  }

  async function end(): Promise<void> {
    await opened.promise
    const start = failure === undefined || (isTyped && hasOutput) ? undefined : left.shift()
    try {
      if (start !== undefined) return await next(start)
    } catch (error) {
      failure = { message: toStatus(error).message, isExitCode: false }
    }
    // The exit code of a shell that the user has used is not an error of the terminal.
    if (failure !== undefined && !(failure.isExitCode && isTyped))
      write(formatTerminalOutput('toast', failure.message))
    out?.end()
  }

  if (first === undefined) throw new Error('a terminal needs a shell')
  await next(first)

  return {
    async receive(text) {
      try {
        const input = parseTerminalInput(text)
        if (input.op === 'stdin') {
          keep(input.data)
          await shell?.send(toMessage(channels.stdin, input.data))
          return
        }
        size = toMessage(channels.resize, JSON.stringify({ Width: input.columns, Height: input.rows }))
        await shell?.send(size)
      } catch (error) {
        write(formatTerminalOutput('toast', toStatus(error).message))
      }
    },
    attach(stream) {
      out = stream
      stream.once('close', () => shell?.close())
      stream.on('error', () => undefined)
      // If the client reads nothing, only its own shell is paused.
      stream.on('drain', () => shell?.resume())
      if (early !== '') write(early)
      opened.resolve(stream)
    },
  }
}

function toMessage(channel: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([channel]), Buffer.from(text)])
}

type Failure = { readonly message: string; readonly isExitCode: boolean }

/** Parses the result of a command. @returns undefined for success */
function failureOf(body: Buffer): Failure | undefined {
  const { message = '', reason } = parseStatus(body) ?? {}
  return message === '' ? undefined : { message, isExitCode: String(reason) === 'NonZeroExitCode' }
}
