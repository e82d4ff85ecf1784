import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import { receiveRequest } from './fixtures.ts'
import { createBearerReader, readBearer } from './read-bearer.ts'

const prefix = 'base64url.bearer.authorization.k8s.io.'
const toProtocol = (token: string | Buffer) => `${prefix}${Buffer.from(token).toString('base64url')}`
const protocol = toProtocol('t0ken')
const offering = (protocols: string) => [
  ...['Connection', 'Upgrade', 'Upgrade', 'websocket'],
  ...['Sec-WebSocket-Protocol', protocols],
]

describe('readBearer', () => {
  const valid: readonly (readonly [string, readonly string[], string | null])[] = [
    ['no header', [], null],
    ['an empty header', ['Authorization', ''], null],
    ['a token', ['Authorization', 'Bearer abc'], 'abc'],
    ['another letter case', ['authorization', 'bEARER abc'], 'abc'],
    ['a repeated header', ['Authorization', 'Bearer abc', 'authorization', 'Bearer abc'], 'abc'],
    ['several spaces', ['Authorization', 'Bearer   abc  '], 'abc'],
    ['a WebSocket subprotocol', offering(`v4.channel.k8s.io, ${protocol}`), 't0ken'],
    ['the first of several subprotocols', offering(`${protocol},v4.channel.k8s.io`), 't0ken'],
    ['unrelated WebSocket subprotocols', offering('v4.channel.k8s.io'), null],
    [
      'a subprotocol of a request that is not a WebSocket handshake',
      ['Sec-WebSocket-Protocol', `a, ${protocol}`],
      null,
    ],
  ]
  for (const [what, headers, expected] of valid) {
    it(`reads ${what}`, async () => expect(readBearer(await receiveRequest(headers))).to.equal(expected))
  }

  const invalid: readonly (readonly [string, readonly string[]])[] = [
    ['Basic', ['Authorization', 'Basic YTpi']],
    ['a scheme without a token', ['Authorization', 'Bearer']],
    ['two tokens', ['Authorization', 'Bearer a b']],
    ['two headers', ['Authorization', 'Bearer a', 'authorization', 'Bearer b']],
    ['a token of 40 KB', ['Authorization', `Bearer ${'a'.repeat(40_000)}`]],
    ['an empty WebSocket token', offering(`a, ${prefix}`)],
    ['a WebSocket token that is not base64url', offering(`a, ${prefix}a+b/`)],
    ['a WebSocket token with padding', offering(`a, ${prefix}YQ==`)],
    ['a WebSocket token that is not UTF-8', offering(`a, ${toProtocol(Buffer.from([0xff]))}`)],
    ['two WebSocket tokens', offering(`a, ${protocol}, ${protocol}`)],
    ['a WebSocket token without another subprotocol', offering(protocol)],
  ]
  for (const [what, headers] of invalid) {
    it(`rejects ${what}`, async () => {
      // Node.js limits all headers to less than kapis-apiserver does, so this request is not sent.
      const req = what.includes('40 KB') ? await receiveRequest(['a', 'b']) : await receiveRequest(headers)
      if (what.includes('40 KB')) req.headers.authorization = headers[1]
      expect(() => readBearer(req))
        .to.throw(Status)
        .with.property('code', 401)
    })
  }
})

describe('createBearerReader', () => {
  /** Returns a request for each list of headers, all on one connection. */
  async function onOneSocket(...all: readonly (readonly string[])[]) {
    const requests = await Promise.all(all.map(receiveRequest))
    const [first] = requests
    for (const req of requests) Object.assign(req, { socket: first?.socket })
    return requests
  }

  it('caches the header of a connection, and reads every other one', async () => {
    const read = createBearerReader()
    const lines = ['Bearer a', 'Bearer a', 'Bearer b', 'Bearer a'].map(value => ['Authorization', value])
    const found = (await onOneSocket(...lines)).map(read)
    expect(found.map(bearer => bearer?.token)).to.deep.equal(['a', 'a', 'b', 'a'])
    expect(found[1]).to.equal(found[0])
    expect(found[2]?.key).to.not.equal(found[0]?.key)
  })

  it('does not reuse the previous token of the connection for a request without one', async () => {
    const read = createBearerReader()
    const [given, none, empty] = await onOneSocket(
      ['Authorization', '', ...offering(`a, ${protocol}`)],
      [],
      ['Authorization', ''],
    )
    expect(given && read(given)?.token).to.equal('t0ken')
    expect(none && read(none)).to.equal(null)
    expect(empty && read(empty)).to.equal(null)
  })

  it('rejects a second header, even if the first is cached', async () => {
    const read = createBearerReader()
    const header = ['Authorization', 'Bearer a']
    const [one, two] = await onOneSocket(header, [...header, 'Authorization', 'Bearer b'])
    expect(one && read(one)?.token).to.equal('a')
    expect(() => two && read(two))
      .to.throw(Status)
      .with.property('code', 401)
  })
})
