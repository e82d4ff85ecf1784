import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import { setting } from './run.ts'

export type RawResponses = { readonly codes: readonly number[]; readonly text: string }

type SpeakOptions = {
  /** PEM of a client certificate. */
  readonly cert?: string
  readonly key?: string
  /** Timeout for the first byte, since a response may take long on a busy machine. */
  readonly timeoutMs?: number
}

/**
 * Writes bytes to kapis-apiserver unchanged, and reads until it closes the connection or sends
 * nothing more.
 *
 * @param silenceMs time to wait for more data after a response
 */
export function sendRaw(bytes: string, silenceMs = 1_000, options: SpeakOptions = {}): Promise<RawResponses> {
  const { hostname, port } = new URL(setting('KAPIS_URL'))
  const { promise, resolve, reject } = Promise.withResolvers<RawResponses>()
  const { timeoutMs = 20_000, ...pair } = options
  const to = { host: hostname, port: Number(port), ca: readFileSync(setting('KAPIS_CA')), ...pair }
  const socket = connect(to, () => socket.write(Buffer.from(bytes, 'latin1')))
  let text = ''
  let isAnswered = false
  const done = () => {
    socket.destroy()
    const codes = [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, code]) => Number(code))
    resolve({ codes, text })
  }
  let timer = setTimeout(done, timeoutMs)
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
    isAnswered = true
    clearTimeout(timer)
    timer = setTimeout(done, silenceMs)
  })
  socket.on('close', () => {
    clearTimeout(timer)
    done()
  })
  socket.on('error', error => {
    if (!isAnswered && !/ECONNRESET|EPIPE/.test(String(error))) reject(error)
  })
  return promise
}
