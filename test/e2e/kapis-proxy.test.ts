import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { expect } from 'chai'
import { startSocksProxy } from '../../pkg/http/fixtures.ts'
import { createPerson } from './kapis.ts'
import { setting } from './run.ts'

describe('kapis behind a proxy', function () {
  this.timeout(90_000)
  const { port } = new URL(setting('KAPIS_URL'))
  const requests: string[] = []
  // Only the proxy can resolve the name of the platform.
  const proxy = createServer((_req, res) => res.writeHead(403).end())
  proxy.on('connect', (req, socket: Duplex) => {
    requests.push(`${req.url} ${req.headers['proxy-authorization'] ?? ''}`)
    const target = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(target).pipe(socket)
    })
    for (const each of [socket, target]) each.on('error', () => each.destroy())
  })
  let address = ''

  before(async () => {
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const bound = proxy.address()
    address = `http://user:pass@127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`
  })
  after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })

  it('logs in through the proxy of the environment variables, which kubectl then uses too', async () => {
    const person = createPerson('proxied')
    const server = `https://kapis.${setting('KAPIS_NAMESPACE')}.svc`
    const env = { HTTPS_PROXY: address, KAPIS_URL: server }
    const stdin = `${setting('KAPIS_PASSWORD')}\n`
    const args = ['login', '-u', setting('KAPIS_USER')]
    const another = await person.kapis(args, { env, stdin })
    expect([another.code, another.stderr]).to.deep.equal([
      1,
      `kapis login: the issuer at ${server} is "https://localhost:${port}/oauth" and not ${server}/oauth: ` +
        'use the address of the issuer as --server, or set --issuer if another address is expected\n',
    ])
    const issuer = `https://localhost:${port}/oauth`
    const ran = await person.kapis([...args, '--issuer', issuer], { env, stdin })
    expect(ran.code, ran.stderr).to.equal(0)
    const authorization = `Basic ${Buffer.from('user:pass').toString('base64')}`
    expect(new Set(requests)).to.deep.equal(
      new Set([`kapis.${setting('KAPIS_NAMESPACE')}.svc:443 ${authorization}`]),
    )
    const who = await person.kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
    expect(who.code, 'without the proxy').to.equal(1)
    process.env.HTTPS_PROXY = address
    try {
      const proxied = await person.kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
      expect(proxied.stdout, proxied.stderr).to.equal(setting('KAPIS_USER'))
    } finally {
      delete process.env.HTTPS_PROXY
    }
    // The issuer is stored with the login.
    const ended = await person.kapis(['logout'], { env: { HTTPS_PROXY: address, KAPIS_URL: '' } })
    expect(ended.code, ended.stderr).to.equal(0)
  })

  it('logs in through a SOCKS proxy, without a warning of a library', async () => {
    const name = `kapis.${setting('KAPIS_NAMESPACE')}.svc`
    const socks = await startSocksProxy(host => (host === name ? Number(port) : undefined))
    const person = createPerson('socks')
    const env = { HTTPS_PROXY: socks.url.href, KAPIS_URL: `https://${name}` }
    const args = ['login', '-u', setting('KAPIS_USER'), '--issuer', `https://localhost:${port}/oauth`]
    const ran = await person.kapis(args, { env, stdin: `${setting('KAPIS_PASSWORD')}\n` })
    expect([ran.code, ran.stderr]).to.deep.equal([
      0,
      `Logged in at https://${name} as ${setting('KAPIS_USER')}.\nkubectl uses the context "kapis" of ${person.kubeconfig}.\n`,
    ])
    expect(new Set(socks.requests)).to.deep.equal(new Set([`${name}:443`]))
    await socks.close()
  })
})
