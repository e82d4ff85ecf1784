import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { isWebSocket, readHandshake, splitSubprotocols } from './handshake.ts'

const handshake = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-version': '13',
  // The example of RFC 6455 section 1.3.
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

describe('isWebSocket', () => {
  for (const [what, changes, expected] of [
    ['a handshake', {}, true],
    ['another letter case', { upgrade: 'WebSocket', connection: 'keep-alive, upgrade' }, true],
    ['another upgrade protocol', { upgrade: 'SPDY/3.1' }, false],
    ['no Connection: Upgrade', { connection: 'keep-alive' }, false],
    ['a longer token', { connection: 'upgrades' }, false],
  ] as const) {
    it(`returns ${expected} for ${what}`, () => {
      expect(isWebSocket({ method: 'GET', headers: { ...handshake, ...changes } })).to.equal(expected)
    })
  }
  it('returns false for another method', () =>
    expect(isWebSocket({ method: 'POST', headers: handshake })).to.equal(false))
})

describe('splitSubprotocols', () => {
  const prefix = 'base64url.bearer.authorization.k8s.io.'
  for (const [header, offered, bearers] of [
    [undefined, [], []],
    ['', [], []],
    ['a', ['a'], []],
    [` a ,b,, ${prefix}x`, ['a', 'b'], ['x']],
    [`${prefix},${prefix}y`, [], ['', 'y']],
  ] as const) {
    it(String(header), () => expect(splitSubprotocols(header)).to.deep.equal({ offered, bearers }))
  }
})

describe('readHandshake', () => {
  const respond = (changes: object) => readHandshake({ headers: { ...handshake, ...changes } })

  it('accepts any single subprotocol', () => {
    expect(respond({})).to.equal(undefined)
    expect(respond({ 'sec-websocket-protocol': 'base64.binary.k8s.io' })).to.equal('base64.binary.k8s.io')
  })
  it('never selects a token as the subprotocol', () => {
    const protocols = 'base64url.bearer.authorization.k8s.io.c2VjcmV0'
    expect(respond({ 'sec-websocket-protocol': protocols })).to.equal(undefined)
    expect(respond({ 'sec-websocket-protocol': `${protocols}, a` })).to.equal('a')
  })

  for (const [what, changes, message, headers] of [
    ['a missing key', { 'sec-websocket-key': undefined }, 'Sec-WebSocket-Key must be 16 bytes as base64', {}],
    ['a short key', { 'sec-websocket-key': 'YWJj' }, 'Sec-WebSocket-Key must be 16 bytes as base64', {}],
    [
      'another version',
      { 'sec-websocket-version': '8' },
      'Sec-WebSocket-Version must be 13',
      { 'sec-websocket-version': '13' },
    ],
    [
      'two subprotocols',
      { 'sec-websocket-protocol': 'a, b' },
      'Sec-WebSocket-Protocol must have at most one subprotocol next to a bearer token',
      {},
    ],
    [
      'subprotocols that are not tokens',
      { 'sec-websocket-protocol': 'a,,b' },
      'Sec-WebSocket-Protocol must be a list of tokens',
      {},
    ],
  ] as const) {
    it(`rejects ${what}`, () => {
      const error = caught(() => respond(changes))
      expect(error).to.include({ code: 400, reason: 'BadRequest', message })
      expect(error.headers ?? {}).to.deep.equal(headers)
    })
  }
})

function caught(action: () => unknown): Status {
  try {
    action()
  } catch (error) {
    if (error instanceof Status) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
