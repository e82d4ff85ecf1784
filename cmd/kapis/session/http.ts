import type { HttpClient, HttpRequest, HttpResponse } from '../../../pkg/http/client.ts'
import { describeFailure, type Failure } from '../../../pkg/http/describe-failure.ts'
import { InterruptedError, type Io } from '../command.ts'
import { printable } from './printable.ts'
import type { Server } from './server-address.ts'

export type { HttpRequest, HttpResponse }

type Members = Readonly<Record<string, unknown>>

// Enough for a list of some hundred thousand users.
const maxBytes = 128 * 1024 * 1024

/** Sends requests to one server. Follows no redirects, which could send tokens elsewhere. */
export class Connection {
  readonly server: Server
  readonly #io: Io
  #client: Promise<HttpClient> | undefined

  constructor(server: Server, io: Io) {
    this.server = server
    this.#io = io
  }

  /** @param path path and query on the server @throws Error if the server is unreachable */
  async send(path: string, request: HttpRequest = {}): Promise<HttpResponse> {
    const { url } = this.server
    this.#client ??= this.#connect()
    const client = await this.#client
    try {
      return await client.send(new URL(path, url), { ...request, signal: this.#io.signal })
    } catch (error) {
      if (this.#io.signal.aborted) throw new InterruptedError()
      throw new Error(`failed to reach ${url}: ${withHint(describeFailure(error), this.server)}`)
    }
  }

  /** Loads the HTTP client on demand: printing a valid token needs no request. */
  async #connect(): Promise<HttpClient> {
    const { HttpClient } = await import('../../../pkg/http/client.ts')
    return new HttpClient({ ca: this.server.ca, env: this.#io.env, maxBytes })
  }
}

/** Returns the JSON object of a response; {} for any other body. */
export function parseJson({ text }: HttpResponse): Members {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
  } catch {
    return {}
  }
}

/** Returns an error with the message of a response: of a Status or an OAuth error. */
export function toError(response: HttpResponse, what: string): Error {
  const { message, error, error_description: description } = parseJson(response)
  const said = [message, description, error].find(text => typeof text === 'string' && text !== '')
  const retry = response.headers['retry-after']
  const later = response.status === 429 && typeof retry === 'string' ? ` (try again in ${retry} s)` : ''
  const reason =
    typeof said === 'string' ? said.slice(0, 2_000) : `the server responded with ${response.status}`
  return new Error(printable(`failed to ${what}: ${reason}${later}`))
}

function withHint({ kind, message }: Failure, { ca }: Server): string {
  if (kind === 'certificate') {
    const known = ca === '' ? '' : ' (it was not issued by the CA in use)'
    return `${message}${known}: set --certificate-authority or KAPIS_CA to the file of its CA`
  }
  return kind === 'host' ? `${message}: use a --server name that the certificate is valid for` : message
}
