import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { createClientAddress, parseRange, sourceNetwork } from './client-address.ts'

function requestFrom(remoteAddress: string, forwarded: readonly string[]): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
  const req = new IncomingMessage(socket)
  Object.defineProperty(req, 'headersDistinct', { value: { 'x-forwarded-for': forwarded } })
  return req
}

describe('createClientAddress', () => {
  const rows: readonly [string, readonly string[], string, readonly string[], string][] = [
    ['the peer without any proxy', [], '192.0.2.7', [], '192.0.2.7'],
    ['the peer, whatever it claims, when no proxy is trusted', [], '192.0.2.7', ['10.0.0.1'], '192.0.2.7'],
    [
      'the peer, whatever it claims, if it is not a trusted proxy',
      ['10.0.0.0/8'],
      '192.0.2.7',
      ['1.2.3.4'],
      '192.0.2.7',
    ],
    ['what a trusted proxy says', ['10.0.0.0/8'], '10.1.1.1', ['192.0.2.9'], '192.0.2.9'],
    [
      'the right-most that is not trusted',
      ['10.0.0.0/8'],
      '10.1.1.1',
      ['6.6.6.6, 192.0.2.9, 10.9.9.9'],
      '192.0.2.9',
    ],
    [
      'the same over several header lines',
      ['10.0.0.0/8'],
      '10.1.1.1',
      ['6.6.6.6', '192.0.2.9', '10.9.9.9'],
      '192.0.2.9',
    ],
    ['the left-most when all are trusted', ['10.0.0.0/8'], '10.1.1.1', ['10.2.2.2, 10.3.3.3'], '10.2.2.2'],
    ['the proxy when it says nothing', ['10.0.0.0/8'], '10.1.1.1', [], '10.1.1.1'],
    ['the proxy when it says nonsense', ['10.0.0.0/8'], '10.1.1.1', ['6.6.6.6, unknown'], '10.1.1.1'],
    ['IPv4 on a dual-stack socket', ['10.0.0.0/8'], '::ffff:10.1.1.1', ['::ffff:192.0.2.9'], '192.0.2.9'],
    ['an address with a port', ['10.1.1.1'], '10.1.1.1', ['192.0.2.9:4711'], '192.0.2.9'],
    ['IPv6 in brackets', ['2001:db8::/32'], '2001:db8::1', ['[2001:DB9::5]:443'], '2001:db9::5'],
  ]
  for (const [what, trusted, peer, forwarded, expected] of rows) {
    it(`returns ${what}`, () => {
      expect(createClientAddress(() => trusted)(requestFrom(peer, forwarded))).to.equal(expected)
    })
  }
})

describe('parseRange', () => {
  for (const text of [
    '',
    'x',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '::1/129',
    '10.0.0/8',
    '10.0.0.0/',
  ]) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      expect(() => parseRange(text)).to.throw('must be an IP address or a CIDR such as 10.0.0.0/8')
    })
  }
  it('treats a bare address as a range of one address', () => {
    expect(parseRange('::1')).to.deep.equal({ address: '::1', prefix: 128, family: 'ipv6' })
    expect(parseRange('10.0.0.1')).to.deep.equal({ address: '10.0.0.1', prefix: 32, family: 'ipv4' })
  })
})

describe('sourceNetwork', () => {
  const rows: readonly [string, string][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ]
  for (const [address, network] of rows) {
    it(`returns ${network || 'nothing'} for ${address || 'nothing'}`, () => {
      expect(sourceNetwork(address)).to.equal(network)
    })
  }
})
