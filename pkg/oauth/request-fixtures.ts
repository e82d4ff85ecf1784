import { request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type HttpResponse = {
  readonly code: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

type Headers = Readonly<Record<string, string>>

/** Returns functions that send requests to a listening server. */
export function createRequests(server: Server) {
  const { port } = server.address() as AddressInfo

  function send(
    method: string,
    path: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>()
    const req = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, async res => {
      const text = Buffer.concat(await res.toArray()).toString('utf8')
      resolve({ code: res.statusCode ?? 0, headers: res.headers, body: text })
    })
    req.on('error', reject)
    req.end(body)
    return promise
  }

  return {
    send,
    /** Sends a form to any endpoint, unchanged. */
    form(path: string, fields: Readonly<Record<string, string>>, headers: Headers = {}) {
      return send('POST', path, {
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: String(new URLSearchParams(fields)),
      })
    },
  }
}
