import { expect } from 'chai'
import { receiveRequest } from './fixtures.ts'
import { stripCredentials } from './strip-credentials.ts'

describe('stripCredentials', () => {
  it('removes credentials and claimed identities from all views of the headers', async () => {
    const req = await receiveRequest([
      'Authorization',
      'Bearer secret',
      'X-Remote-User',
      'admin',
      'x-remote-group',
      'g',
      'X_Remote_User',
      'admin',
      'x-remote_Extra-a',
      'admin',
      'Accept',
      'a',
    ])
    expect(req.headersDistinct.authorization).to.deep.equal(['Bearer secret'])
    stripCredentials(req)
    const all = JSON.stringify([req.headers, req.headersDistinct, req.rawHeaders])
    expect(all).to.not.match(/secret|admin|x.remote/i)
    expect(req.headersDistinct.accept).to.deep.equal(['a'])
  })

  const bearer = 'base64url.bearer.authorization.k8s.io.c2VjcmV0'
  for (const [what, given, left] of [
    ['among others', [`a, ${bearer},b`], 'a, b'],
    ['in a second header', ['a', `${bearer}, ${bearer}`], 'a'],
    ['alone', [bearer], undefined],
  ] as const) {
    it(`removes a token from the subprotocols of a WebSocket, ${what}`, async () => {
      const req = await receiveRequest(given.flatMap(value => ['Sec-WebSocket-Protocol', value]))
      stripCredentials(req)
      expect(JSON.stringify([req.headers, req.headersDistinct, req.rawHeaders])).to.not.include('bearer')
      expect(req.headers['sec-websocket-protocol']).to.equal(left)
      const raw = req.rawHeaders.filter((_, i) => /^sec-websocket/i.test(req.rawHeaders[i - 1] ?? ''))
      expect(raw.join(', ')).to.equal(left ?? '')
    })
  }
})
