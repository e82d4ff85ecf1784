import { expect } from 'chai'
import { isLoopback, readProxyEnvironment } from './proxy-environment.ts'

const proxy = 'http://proxy.test:3128'
const used = (url: string, env: Readonly<Record<string, string>>) =>
  readProxyEnvironment(env)(new URL(url))?.href.replace(/\/$/, '')

describe('readProxyEnvironment', () => {
  // A URL, the environment, and the proxy that Go selects.
  const cases: readonly [string, Readonly<Record<string, string>>, string | undefined][] = [
    ['https://a.test', {}, undefined],
    ['https://a.test', { HTTPS_PROXY: proxy }, proxy],
    ['https://a.test', { https_proxy: proxy }, proxy],
    ['https://a.test', { HTTPS_PROXY: proxy, https_proxy: 'http://other.test' }, proxy],
    ['https://a.test', { HTTPS_PROXY: '', https_proxy: proxy }, proxy],
    ['https://a.test', { HTTP_PROXY: proxy }, undefined],
    ['http://a.test', { HTTP_PROXY: proxy }, proxy],
    ['http://a.test', { HTTPS_PROXY: proxy }, undefined],
    ['http://a.test', { HTTP_PROXY: proxy, REQUEST_METHOD: 'GET' }, undefined],
    ['https://a.test', { HTTPS_PROXY: 'proxy.test:3128' }, proxy],
    ['https://a.test', { HTTPS_PROXY: 'proxy.test' }, 'http://proxy.test'],
    ['https://a.test', { HTTPS_PROXY: 'https://u:p@proxy.test' }, 'https://u:p@proxy.test'],
    ['https://a.test', { HTTPS_PROXY: 'socks5://proxy.test' }, 'socks5://proxy.test'],
    ['https://a.test', { HTTPS_PROXY: 'socks5h://u:p@proxy.test:1080' }, 'socks5://u:p@proxy.test:1080'],
    ['https://a.test', { HTTPS_PROXY: ` ${proxy}/path?query#fragment\n` }, proxy],
    ['https://a.test', { HTTPS_PROXY: ' ' }, undefined],
    [
      'https://a.test',
      { HTTPS_PROXY: 'http://a%40b:p%3a%2Fw@[fd00::1]:3128' },
      'http://a%40b:p%3a%2Fw@[fd00::1]:3128',
    ],
    // Loopback hosts are never proxied.
    ['https://localhost', { HTTPS_PROXY: proxy }, undefined],
    ['https://localhost:6443', { HTTPS_PROXY: proxy }, undefined],
    ['https://127.0.0.1', { HTTPS_PROXY: proxy }, undefined],
    ['https://127.9.9.9', { HTTPS_PROXY: proxy }, undefined],
    ['https://[::1]', { HTTPS_PROXY: proxy }, undefined],
    ['https://localhost.test', { HTTPS_PROXY: proxy }, proxy],
    ['https://a.localhost', { HTTPS_PROXY: proxy }, proxy],
  ]
  for (const [url, env, expected] of cases)
    it(`uses for ${url} with ${JSON.stringify(env)}: ${expected ?? 'no proxy'}`, () => {
      expect(used(url, env)).to.equal(expected)
    })

  // NO_PROXY, hosts that are reached directly, and hosts that are proxied.
  const exceptions: readonly [string, readonly string[], readonly string[]][] = [
    ['*', ['a.test', '10.0.0.1', '[fd00::1]'], []],
    ['x.test,*', ['a.test'], []],
    [
      'a.test',
      ['a.test', 'A.TEST', 'b.a.test', 'c.b.a.test', 'a.test:8443'],
      ['ba.test', 'a.test.org', 'test'],
    ],
    ['.a.test', ['b.a.test', 'c.b.a.test'], ['a.test', 'xa.test']],
    ['*.a.test', ['b.a.test'], ['a.test']],
    ['a.test:8443', ['a.test:8443', 'b.a.test:8443'], ['a.test', 'a.test:443']],
    ['a.test:443', ['a.test'], ['a.test:8443']],
    [' a.test , b.test ', ['a.test', 'b.test'], ['c.test']],
    ['10.0.0.1', ['10.0.0.1', '10.0.0.1:8443'], ['10.0.0.2']],
    ['10.0.0.1:8443', ['10.0.0.1:8443'], ['10.0.0.1']],
    ['10.0.0.0/8', ['10.255.0.1', '10.0.0.1:8443'], ['11.0.0.1', 'ten.test']],
    ['192.168.1.7/24', ['192.168.1.200'], ['192.168.2.1']],
    ['0.0.0.0/0', ['8.8.8.8'], ['[fd00::1]', 'a.test']],
    ['fd00::/8', ['[fd12::1]'], ['[fe80::1]']],
    ['fd00::1', ['[fd00::1]', '[fd00:0:0::1]'], ['[fd00::2]']],
    ['[fd00::1]:8443', ['[fd00::1]:8443'], ['[fd00::1]']],
    ['[fd00::1]', [], ['[fd00::1]']],
    ['bücher.test', ['xn--bcher-kva.test', 'bücher.test'], []],
    // Malformed entries are ignored.
    [':443,,/8,10.0.0.0/33,a.test:x', [], ['a.test', '10.0.0.1']],
    ['a.test/,https://a.test,a.test b.test,u@a.test,a.test?', [], ['a.test', 'b.test', 'u']],
    ['.1', [], ['10.0.0.1']],
    ['', [], ['a.test']],
  ]
  for (const [noProxy, direct, proxied] of exceptions)
    it(`supports NO_PROXY=${noProxy}`, () => {
      for (const name of ['NO_PROXY', 'no_proxy']) {
        const env = { HTTPS_PROXY: proxy, [name]: noProxy }
        for (const host of direct) expect(used(`https://${host}`, env), host).to.equal(undefined)
        for (const host of proxied) expect(used(`https://${host}`, env), host).to.equal(proxy)
      }
    })

  it('rejects a proxy that is not a URL, without quoting it, since it may contain a password', () => {
    const cases: readonly [string, string][] = [
      ['http://u:secret@', 'invalid HTTPS_PROXY: expected a URL or host:port'],
      ['u:secret@', 'invalid HTTPS_PROXY: expected a URL or host:port'],
      [
        'ftp://u:secret@x',
        'invalid HTTPS_PROXY: unknown scheme ftp:; supported: http, https, socks5, socks5h',
      ],
      ['http://u:secret%@x', 'invalid HTTPS_PROXY: the user name and password must be percent-encoded'],
      ['http://%ff:secret@x', 'invalid HTTPS_PROXY: the user name and password must be percent-encoded'],
    ]
    for (const [HTTPS_PROXY, message] of cases)
      expect(() => readProxyEnvironment({ HTTPS_PROXY })).to.throw(message)
  })
})

describe('isLoopback', () => {
  it('recognizes loopback names and addresses', () => {
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]', '::1'])
      expect(isLoopback(host)).to.equal(true)
    for (const host of ['localhost.test', '128.0.0.1', '[::2]', '0.0.0.0', 'a', '127.0.0.1.nip.io'])
      expect(isLoopback(host), host).to.equal(false)
  })
})
