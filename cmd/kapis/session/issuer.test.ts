import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { expect } from 'chai'
import { deviceLogin } from './device-login.ts'
import { Connection } from './http.ts'
import { discover } from './issuer.ts'

describe('discover', () => {
  let server: Server
  let url: string
  let document: Record<string, unknown>
  const io = {
    out: () => undefined,
    err: (text: string) => void said.push(text),
    env: { HTTP_PROXY: 'http://127.0.0.1:1' },
    signal: new AbortController().signal,
    version: '0',
  }
  const said: string[] = []
  const requests: string[] = []
  let device: Record<string, unknown> = {}

  before(async () => {
    server = createServer((req, res) => {
      requests.push(req.url ?? '')
      const body = req.url === '/oauth/.well-known/openid-configuration' ? document : device
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    said.length = 0
    requests.length = 0
    document = {
      issuer: `${url}/oauth`,
      authorization_endpoint: `${url}/oauth/authorize`,
      token_endpoint: `${url}/oauth/token?a=b`,
      device_authorization_endpoint: `${url}/oauth/device_authorization`,
      jwks_uri: `${url}/oauth/keys`,
    }
  })
  const find = (expected?: string) => discover(new Connection({ url, ca: '' }, io), expected)
  const rejection = (expected?: string) => find(expected).then(() => '', String)

  it('returns the endpoints of the requested issuer', async () => {
    const issuer = await find()
    expect(issuer.identifier).to.equal(`${url}/oauth`)
    expect(issuer.endpoint('authorization').href).to.equal(`${url}/oauth/authorize`)
    await issuer.post('token', { id: 'c', secret: '' }, {})
    expect(requests).to.deep.equal(['/oauth/.well-known/openid-configuration', '/oauth/token?a=b'])
  })

  it('treats loopback names with the same port as equal', async () => {
    const local = (text: unknown) => String(text).replace('127.0.0.1', 'localhost')
    document = Object.fromEntries(Object.entries(document).map(([key, value]) => [key, local(value)]))
    expect((await find()).identifier).to.equal(local(`${url}/oauth`))
  })

  it('rejects an issuer that differs from the requested one (RFC 8414 section 3.3)', async () => {
    const others = [
      ...[
        'https://evil.test/oauth',
        `${url}/other`,
        `${url}/oauth/`,
        `${url}`,
        'http://localhost:1/oauth',
        '',
      ],
      ...[undefined, null, 7, [`${url}/oauth`]],
    ]
    for (const issuer of others) {
      document.issuer = issuer
      expect(await rejection(), String(issuer)).to.include(
        `and not ${url}/oauth: use the address of the issuer as --server`,
      )
    }
  })

  it('accepts an issuer at another address if --issuer names it, and sends requests nowhere else', async () => {
    const own = 'https://kapis.example.org/oauth'
    const moved = (text: unknown) => String(text).replace(`${url}/oauth`, own)
    document = Object.fromEntries(Object.entries(document).map(([key, value]) => [key, moved(value)]))
    expect(await rejection()).to.include(`is "${own}" and not ${url}/oauth`)
    const issuer = await find(own)
    expect(issuer.endpoint('authorization').href).to.equal(`${own}/authorize`)
    await issuer.post('token', { id: 'c', secret: 's' }, {})
    expect(requests.at(-1)).to.equal('/oauth/token?a=b')
    expect(await rejection('https://other.example.org/oauth')).to.include(
      'and not https://other.example.org/oauth',
    )
  })

  const endpoints: readonly unknown[] = [
    ...[
      'javascript:alert(1)',
      'file:///etc/passwd',
      'data:text/html,x',
      'ssh://x',
      'vscode://x',
      'x-man-page://1',
    ],
    ...[
      'http://evil.test/oauth/authorize',
      'https://evil.test/oauth/authorize',
      '-flag',
      '',
      '/oauth/authorize',
    ],
    ...['\u001b]0;x\u0007', null, 7, {}, ['https://evil.test']],
  ]
  for (const name of ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint', 'jwks_uri'])
    it(`rejects a document whose ${name} is not an https URL of the issuer`, async () => {
      for (const value of endpoints) {
        document[name] = value
        const why = await rejection()
        expect(why, String(value)).to.include(`the issuer has an invalid ${name}`)
      }
    })

  it('prints no URL of another origin, and no control characters that a server sends', async () => {
    const issuer = await find()
    const pages = ['javascript:alert(1)', 'https://evil.test/device', '\u001b[2J', undefined]
    for (const page of pages) {
      device = { device_code: 'd', user_code: 'u', verification_uri: page }
      const why = await deviceLogin(issuer, { id: 'c', secret: '' }, io).then(() => '', String)
      expect(why).to.include('the issuer has an invalid page')
    }
    device = { error: 'x', error_description: 'no \u001b[2J\u009bA\u202e way' }
    const why = await deviceLogin(issuer, { id: 'c', secret: '' }, io).then(() => '', String)
    expect(why).to.match(/^Error: failed to begin the login: no [\x20-\x7e]+ way$/)
    expect(said).to.deep.equal([])
  })
})
