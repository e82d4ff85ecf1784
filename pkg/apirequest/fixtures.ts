import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { hooked } from '../httpserver/hooked-message.ts'
import type { Identity } from './identity/identity.ts'
import type { AuthenticatedExchange } from './request-context.ts'
import { parseLine } from './request-line.ts'

export const jane: Identity = {
  username: 'jane',
  uid: 'u-1',
  groups: ['dev', 'system:authenticated'],
  extra: {},
}

export type Listener = (req: IncomingMessage, res: ServerResponse) => unknown

/** A real HTTP server on the loopback interface for a test. */
export type Loopback = {
  readonly port: number
  readonly get: (path: string, options?: GetOptions) => Promise<HttpResponse>
  /** Sends a request and resolves when the response headers have arrived. */
  readonly open: (path: string, options?: GetOptions) => Promise<IncomingMessage>
  readonly close: () => Promise<void>
}

export type GetOptions = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type HttpResponse = {
  readonly code: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  readonly text: string
}

export async function startLoopback(listener: Listener): Promise<Loopback> {
  const server = createServer(hooked, (req, res) => {
    void listener(req, res)
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const port = portOf(server)
  const open = (path: string, options: GetOptions = {}) => {
    const opened = Promise.withResolvers<IncomingMessage>()
    request({ host: '127.0.0.1', port, path, agent: false, ...options }, opened.resolve)
      .on('error', opened.reject)
      .end()
    return opened.promise
  }
  return {
    port,
    open,
    get: async (path, options) => readResponse(await open(path, options)),
    close: () => closeServer(server),
  }
}

export async function readResponse(res: IncomingMessage): Promise<HttpResponse> {
  const chunks: Buffer[] = []
  for await (const chunk of res) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  return { code: res.statusCode ?? 0, headers: res.headers, body, text: body.toString('utf8') }
}

export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server does not listen')
  return address.port
}

export async function closeServer(server: {
  close(done: () => void): unknown
  closeAllConnections(): void
}): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  await promise
}

/** Creates the exchange that the filters would pass to a handler. */
export function toExchange(req: IncomingMessage, res: ServerResponse): AuthenticatedExchange {
  const line = parseLine(req.method ?? 'GET', req.url ?? '/', undefined, 'all')
  return { req, res, id: 'id-1', ...line, identity: jane, isAggregated: false }
}
