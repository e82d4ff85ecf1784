import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { portOf } from '../apirequest/fixtures.ts'

export type TestProxy = {
  readonly url: URL
  /** The received requests: `CONNECT host:port`, or method and URL in absolute form. */
  readonly requests: readonly string[]
  readonly close: () => Promise<void>
}

/**
 * Starts an HTTP proxy that tunnels (RFC 9110 section 9.3.6) and forwards. Only the proxy can
 * resolve the host names of the test.
 */
export async function startProxy(portOfName: (name: string) => number | undefined): Promise<TestProxy> {
  const requests: string[] = []
  const server = createServer((req, res) => {
    requests.push(`${req.method} ${req.url}`)
    const url = new URL(req.url ?? '')
    const port = portOfName(url.hostname)
    if (port === undefined) return void res.writeHead(502).end()
    const { method, headers } = req
    const path = url.pathname + url.search
    const forwarded = request({ host: '127.0.0.1', port, method, headers, path }, response => {
      res.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(res)
    })
    req.pipe(forwarded)
  })
  server.on('connect', (req, socket) => {
    requests.push(`CONNECT ${req.url}`)
    const port = portOfName(String(req.url).replace(/:\d+$/, ''))
    if (port === undefined) return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(target).pipe(socket)
    })
    for (const each of [socket, target]) each.on('error', () => each.destroy())
    socket.on('close', () => target.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: new URL(`http://127.0.0.1:${portOf(server)}`),
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/**
 * Starts a SOCKS 5 proxy (RFC 1928) with optional credentials (RFC 1929). `requests` has
 * `host:port`, after `user:password@` if the client sent credentials.
 */
export async function startSocksProxy(portOfName: (name: string) => number | undefined): Promise<TestProxy> {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const server = createTcpServer(socket => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    void serve(socket).catch(() => socket.destroy())
  })

  async function serve(socket: Socket): Promise<void> {
    const read = async (length: number): Promise<Buffer> => {
      for (;;) {
        const bytes: Buffer | null = length === 0 ? Buffer.alloc(0) : socket.read(length)
        if (bytes !== null) return bytes
        await once(socket, 'readable')
      }
    }
    const readText = async () => (await read((await read(1))[0] ?? 0)).toString()
    const [, count = 0] = await read(2)
    const methods = await read(count)
    const isNamed = methods.includes(2)
    socket.write(Buffer.from([5, isNamed ? 2 : 0]))
    let credentials = ''
    if (isNamed) {
      await read(1)
      credentials = `${await readText()}:${await readText()}@`
      socket.write(Buffer.from([1, 0]))
    }
    await read(4)
    const name = await readText()
    requests.push(`${credentials}${name}:${(await read(2)).readUInt16BE()}`)
    const port = portOfName(name)
    if (port === undefined) return void socket.end(Buffer.from([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]))
    const target = connect(port, '127.0.0.1', () => {
      socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
      socket.pipe(target).pipe(socket)
    })
    target.on('error', () => socket.destroy())
    socket.on('close', () => target.destroy())
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: new URL(`socks5://127.0.0.1:${portOf(server)}`),
    requests,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
