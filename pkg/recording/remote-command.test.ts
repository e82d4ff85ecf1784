import { expect } from 'chai'
import { channelCodec, parseTerminalSize } from './remote-command.ts'

describe('channelCodec', () => {
  for (const name of ['', 'channel.k8s.io', 'v4.channel.k8s.io', 'v5.channel.k8s.io']) {
    it(`reads and writes binary messages of ${JSON.stringify(name)}`, () => {
      const codec = channelCodec(name)
      expect(codec?.decode(Buffer.from('\x01out'))).to.deep.equal({ channel: 1, data: Buffer.from('out') })
      expect(codec?.decode(Buffer.alloc(0))).to.equal(undefined)
      expect(codec?.encode(2, 'hi')).to.deep.equal(Buffer.from([0x82, 3, 2, 0x68, 0x69]))
    })
  }

  for (const name of ['base64.channel.k8s.io', 'v4.base64.channel.k8s.io']) {
    it(`reads and writes base64 of ${name}`, () => {
      const codec = channelCodec(name)
      expect(codec?.decode(Buffer.from('1b3V0'))).to.deep.equal({ channel: 1, data: Buffer.from('out') })
      expect(codec?.decode(Buffer.from('xb3V0'))).to.equal(undefined)
      expect(codec?.encode(2, 'hi')).to.deep.equal(Buffer.from([0x81, 5, ...Buffer.from('2aGk=')]))
    })
  }

  for (const name of ['SPDY/3.1', 'v6.channel.k8s.io', 'toString'])
    it(`returns undefined for ${name}`, () => expect(channelCodec(name)).to.equal(undefined))
})

describe('parseTerminalSize', () => {
  for (const [given, expected] of [
    ['{"Width":120,"Height":40}', { width: 120, height: 40 }],
    ['{"Width":0,"Height":40}', undefined],
    ['{"Width":120}', undefined],
    ['{"Width":"120","Height":"40"}', undefined],
    ['{"Width":1e9,"Height":40}', undefined],
    ['null', undefined],
    ['{', undefined],
  ] as const) {
    it(`returns the size of ${given}`, () =>
      expect(parseTerminalSize(Buffer.from(given))).to.deep.equal(expected))
  }
})
