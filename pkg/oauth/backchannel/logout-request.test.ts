import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { expect } from 'chai'
import { closeServer, portOf } from '../../apirequest/fixtures.ts'
import { createPostLogoutToken } from './logout-request.ts'

describe('createPostLogoutToken', () => {
  const servers: Server[] = []
  afterEach(() => Promise.all(servers.splice(0).map(closeServer)))

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return `http://127.0.0.1:${portOf(server)}/logout?tenant=a`
  }

  it('posts a form with the token, and nothing else', async () => {
    const received: unknown[] = []
    const uri = await serve(async (req, res) => {
      const body = Buffer.concat(await req.toArray()).toString()
      const { method, url, headers } = req
      received.push({
        method,
        url,
        type: headers['content-type'],
        authorization: headers.authorization,
        body,
      })
      res.writeHead(204).end()
    })
    expect(await createPostLogoutToken()(uri, 'a.b-c_d.e')).to.equal(204)
    expect(received).to.deep.equal([
      {
        method: 'POST',
        url: '/logout?tenant=a',
        type: 'application/x-www-form-urlencoded',
        authorization: undefined,
        body: 'logout_token=a.b-c_d.e',
      },
    ])
  })

  it('does not follow a redirect', async () => {
    let wasFollowed = false
    const other = await serve((_, res) => {
      wasFollowed = true
      res.end()
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const uri = await serve((_, res) => res.writeHead(status, { location: other }).end())
      expect(await createPostLogoutToken()(uri, 't')).to.equal(status)
    }
    expect(wasFollowed).to.equal(false)
  })

  it('limits the time to a response', async () => {
    const uri = await serve(() => undefined)
    const error = await createPostLogoutToken({ timeoutMs: 100 })(uri, 't').catch(thrown => thrown)
    expect(error).to.be.an.instanceOf(Error)
  })

  it('limits the time to read a body, and still reports the status', async () => {
    const uri = await serve((_, res) => {
      res.writeHead(200).write('{')
    })
    const began = Date.now()
    expect(await createPostLogoutToken({ timeoutMs: 200 })(uri, 't')).to.equal(200)
    expect(Date.now() - began).to.be.below(3_000)
  })

  it('reads only the beginning of a response body', async () => {
    let sent = 0
    const uri = await serve((_, res) => {
      const chunk = Buffer.alloc(64 * 1024)
      const more = () => {
        while (!res.destroyed && res.write(chunk)) sent += chunk.length
      }
      res.on('drain', more).on('error', () => undefined)
      more()
    })
    expect(await createPostLogoutToken()(uri, 't')).to.equal(200)
    // Only what fits into the socket buffers of both ends was sent.
    expect(sent).to.be.below(32 * 1024 * 1024)
  })

  it('uses the proxy of the environment variables', async () => {
    const received: (string | undefined)[] = []
    const proxy = new URL(
      await serve((req, res) => {
        received.push(req.url)
        res.end()
      }),
    )
    const post = createPostLogoutToken({ proxyFor: () => new URL(proxy.origin) })
    expect(await post('http://app.test/logout', 't')).to.equal(200)
    expect(received).to.deep.equal(['http://app.test/logout'])
  })
})
