import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { renderKube } from '../../apierrors/render-kube.ts'
import type { Exchange, Handler } from '../../apirequest/request-context.ts'
import { parseLine } from '../../apirequest/request-line.ts'

export type Answer = {
  readonly code: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export type TestServer = {
  readonly get: (url: string, headers?: OutgoingHttpHeaders, method?: string) => Promise<Answer>
  readonly close: () => void
}

/** Serves one handler on a free port for tests, without authentication and authorization. */
export async function startTestServer(handle: Handler<Exchange>): Promise<TestServer> {
  const server = createServer(async (req, res) => {
    try {
      await handle({ req, res, id: 'test', ...parseLine(req.method ?? 'GET', req.url ?? '/') })
    } catch (error) {
      renderKube(res, error)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('no address')
  const { port } = address

  return {
    async get(path, headers = {}, method = 'GET') {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      const options = { host: '127.0.0.1', port, path, method, headers, agent: false }
      const req = request(options, async res => {
        const body = Buffer.concat(await res.toArray())
        resolve({ code: res.statusCode ?? 0, headers: res.headers, body })
      })
      req.on('error', reject)
      req.end()
      return promise
    },
    close: () => server.close(),
  }
}
