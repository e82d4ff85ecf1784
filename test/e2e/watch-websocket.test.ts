import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { expect } from 'chai'
import { accessToken, collectionPath, kubeCa, kubectlOutput, nodeNames, uniqueName } from './cluster.ts'
import { eventually, platformPath } from './http.ts'
import { setting } from './run.ts'

const bearerProtocol = (token: string) =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
// kube-apiserver rejects a handshake without an Origin header, which browsers always send.
const headers = { origin: 'https://console.example.com' }

/** The WebSocket client of Node.js, which like a browser can only send a token as a subprotocol. */
describe('watches over WebSocket', function () {
  this.timeout(120_000)

  let token = ''
  let node = ''
  const label = uniqueName('ws')
  const query = `watch=1&labelSelector=${label}`
  const ways: Readonly<Record<string, () => string>> = {
    'the aggregated API through kube-apiserver': () => `${setting('KUBE_URL')}${collectionPath}`,
    'the aggregated API at kapis-apiserver': () => `${setting('KAPIS_URL')}${collectionPath}`,
    'a platform list': () => `${setting('KAPIS_URL')}${platformPath}`,
    'kube-apiserver’s own through kapis-apiserver': () => `${setting('KAPIS_URL')}/api/v1/nodes`,
    'kube-apiserver’s own': () => `${setting('KUBE_URL')}/api/v1/nodes`,
  }
  const open: WebSocket[] = []

  before(async () => {
    const own = [readFileSync(setting('KAPIS_CA'), 'utf8'), readFileSync(await kubeCa(), 'utf8')]
    setDefaultCACertificates([...getCACertificates(), ...own])
    token = await accessToken()
    node = (await nodeNames())[0] ?? ''
  })
  after(async () => {
    for (const socket of open) socket.close()
    await kubectlOutput('label', 'node', node, `${label}-`)
  })

  function connect(url: string, parameters: string, protocols: readonly string[]) {
    const target = `${url.replace('https:', 'wss:')}?${parameters}`
    const socket = new WebSocket(target, { protocols: [...protocols], headers })
    open.push(socket)
    const received: string[] = []
    socket.addEventListener('message', ({ data }) => {
      const text = String(data)
      const { type, object } = JSON.parse(text)
      received.push(
        `${type} ${object.metadata?.name ?? object.reason}${text.endsWith('}\n') ? '' : ' (without its end)'}`,
      )
    })
    return { socket, received }
  }

  for (const [way, url] of Object.entries(ways)) {
    it(`${way}: send a message per event, authenticated by a subprotocol, until either side closes`, async () => {
      const { socket, received } = connect(url(), query, [bearerProtocol(token), 'base64.binary.k8s.io'])
      await once(socket, 'open')
      expect(socket.protocol).to.equal('base64.binary.k8s.io')
      await kubectlOutput('label', 'node', node, `${label}=a`)
      await kubectlOutput('label', 'node', node, `${label}=b`, '--overwrite')
      await kubectlOutput('label', 'node', node, `${label}-`)
      await eventually(async () => {
        // The node may report its status in the meantime, which results in another MODIFIED event.
        const distinct = received.filter((event, i) => event !== received[i - 1])
        expect(distinct).to.deep.equal([`ADDED ${node}`, `MODIFIED ${node}`, `DELETED ${node}`])
      }, 20_000)
      socket.close(1000)
      const [closed] = await once(socket, 'close')
      expect(closed).to.include({ code: 1000, wasClean: true })
    })

    it(`${way}: end at their timeout with a close frame`, async () => {
      const { socket } = connect(url(), `${query}&timeoutSeconds=1`, [bearerProtocol(token), 'a'])
      const [closed] = await once(socket, 'close')
      expect(closed).to.include({ code: 1000, wasClean: true })
    })

    for (const [what, protocols] of [
      ['a token without another subprotocol', [bearerProtocol('TOKEN')]],
      ['an invalid token', [bearerProtocol('nonexistent'), 'a']],
      ['two subprotocols', [bearerProtocol('TOKEN'), 'a', 'b']],
      ['a missing token', ['a']],
    ] as const) {
      it(`${way}: reject ${what}`, async () => {
        const given = protocols.map(each => (each === bearerProtocol('TOKEN') ? bearerProtocol(token) : each))
        const { socket, received } = connect(url(), query, given)
        const [closed] = await once(socket, 'close')
        expect([closed.wasClean, received]).to.deep.equal([false, []])
      })
    }
  }

  for (const way of Object.keys(ways).slice(0, 3)) {
    it(`${way}: send a message for an expired version, and end`, async () => {
      const { socket, received } = connect(ways[way]?.() ?? '', 'watch=1&resourceVersion=1', [
        bearerProtocol(token),
        'a',
      ])
      const [closed] = await once(socket, 'close')
      expect(closed).to.include({ code: 1000, wasClean: true })
      expect(received).to.deep.equal(['ERROR Expired'])
    })
  }

  describe('a handshake with the Origin', () => {
    async function handshake(url: string, given: Readonly<Record<string, string>>): Promise<number> {
      const req = request(`${url}?${query}&timeoutSeconds=1`, {
        agent: false,
        ca: [readFileSync(setting('KAPIS_CA')), readFileSync(await kubeCa())],
        headers: {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          ...given,
        },
      })
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      req.on('error', reject)
      req.on('response', res => {
        resolve(res.statusCode ?? 0)
        res.resume()
      })
      req.on('upgrade', (res, socket) => {
        resolve(res.statusCode ?? 0)
        socket.destroy()
      })
      req.end()
      return promise
    }

    // Kapis does not check the origin: kube-apiserver accepts any valid one, so its check protects
    // nothing.
    for (const [origin, atKube] of [
      [undefined, 403],
      ['null', 403],
      ['garbage', 403],
      ['https://elsewhere.example.com', 101],
    ] as const) {
      it(`${origin ?? 'missing'} causes ${atKube} in kube-apiserver, also through kapis-apiserver, and 101 in Kapis`, async () => {
        const given = { authorization: `Bearer ${token}`, ...(origin === undefined ? {} : { origin }) }
        const codes = await Promise.all(Object.values(ways).map(url => handshake(url(), given)))
        expect(codes).to.deep.equal([101, 101, 101, atKube, atKube])
      })
    }

    it('and a cookie is not authenticated, with any cookie', async () => {
      const cookie = ['token', 'access_token', 'kapis', '__Host-kapis-session']
        .map(name => `${name}=${token}`)
        .join('; ')
      for (const url of Object.values(ways)) {
        const given = { cookie, origin: setting('KAPIS_URL') }
        expect(await handshake(url(), given), url()).to.be.oneOf([401, 403])
      }
    })
  })

  it('leave no token in the logs of Kapis', () => {
    const folder = setting('KAPIS_LOGS_DIR')
    const own = readdirSync(folder).filter(name => !name.startsWith('kube'))
    expect(own).to.include('apiserver.log')
    for (const name of own) {
      const text = readFileSync(join(folder, name), 'utf8')
      for (const secret of [token, bearerProtocol(token)])
        expect(text.includes(secret), `${name} has the token`).to.equal(false)
    }
  })
})
