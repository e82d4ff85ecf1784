import { expect } from 'chai'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { type Check, createProbes } from './probes.ts'

describe('createProbes', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  const good: Check = { name: 'cache', problem: () => undefined }
  const bad: Check = { name: 'authn', problem: () => 'dial tcp 10.0.0.1: refused' }

  async function send(path: string, checks: readonly Check[] = [good], waitForDrain = false) {
    const probes = createProbes(checks)
    if (waitForDrain) probes.drain()
    loopback = await startLoopback((req, res) => probes.handle(toExchange(req, res)))
    const { code, text, headers } = await loopback.get(path)
    expect(headers['content-type']).to.equal('text/plain; charset=utf-8')
    expect(headers['x-content-type-options']).to.equal('nosniff')
    await loopback.close()
    return { code, text }
  }

  const partial: Check = { name: 'logs', problem: () => 'full', isPartial: true }

  type Row = readonly [string, readonly Check[], number, string]
  const table: readonly Row[] = [
    ['/healthz', [good], 200, 'ok'],
    ['/livez', [good], 200, 'ok'],
    ['/readyz', [good], 200, 'ok'],
    ['/readyz/', [good], 200, 'ok'],
    ['/readyz?verbose', [good], 200, '[+]ping ok\n[+]cache ok\n[+]shutdown ok\nreadyz check passed\n'],
    ['/healthz?verbose=1', [good], 200, '[+]ping ok\n[+]cache ok\nhealthz check passed\n'],
    ['/livez?verbose', [bad], 200, '[+]ping ok\nlivez check passed\n'],
    [
      '/readyz',
      [good, bad],
      500,
      '[+]ping ok\n[+]cache ok\n[-]authn failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n',
    ],
    ['/readyz?exclude=authn', [bad], 200, 'ok'],
    [
      '/readyz?exclude=authn&exclude=ping&verbose',
      [bad],
      200,
      '[+]ping excluded: ok\n[+]authn excluded: ok\n[+]shutdown ok\nreadyz check passed\n',
    ],
    [
      '/livez?exclude=etcd&exclude=x"y&verbose',
      [],
      200,
      '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "etcd","x\\"y"\nlivez check passed\n',
    ],
    ['/readyz/cache', [good], 200, 'ok'],
    ['/readyz/cache?verbose', [good], 200, '[+]cache ok\nreadyz/cache check passed\n'],
    ['/readyz', [partial], 200, 'ok'],
    [
      '/readyz?verbose',
      [partial],
      200,
      '[+]ping ok\n[-]logs failed: reason withheld\n[+]shutdown ok\nreadyz check passed\n',
    ],
    ['/readyz/logs', [partial], 500, '[-]logs failed: reason withheld\nreadyz/logs check failed\n'],
    ['/readyz/authn', [bad], 500, '[-]authn failed: reason withheld\nreadyz/authn check failed\n'],
  ]
  for (const [path, checks, code, text] of table) {
    it(`returns ${code} to ${path} with ${checks.map(({ name }) => name).join(' and ') || 'no check'}`, async () => {
      expect(await send(path.replace('"', '%22'), checks)).to.deep.equal({ code, text })
    })
  }

  it('never includes the reason in the response', async () => {
    expect((await send('/readyz?verbose', [bad])).text).to.not.contain('10.0.0.1')
  })

  it('makes only /readyz fail during shutdown', async () => {
    expect(await send('/readyz', [good], true)).to.deep.equal({
      code: 500,
      text: '[+]ping ok\n[+]cache ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n',
    })
    for (const path of ['/livez', '/healthz'])
      expect(await send(path, [good], true)).to.deep.equal({ code: 200, text: 'ok' })
  })

  const handled: readonly [string, boolean][] = [
    ['/healthz', true],
    ['/livez', true],
    ['/readyz', true],
    ['/readyz/', true],
    ['/readyz/ping', true],
    ['/livez/shutdown', false],
    ['/readyz/etcd', false],
    ['/readyz/ping/x', false],
    ['/readyzz', false],
    ['/ready', false],
    ['/', false],
    ['/api/healthz', false],
    ['/metrics', false],
    // Inherited properties of JavaScript objects are not probes: such paths require authorization.
    ['/constructor', false],
    ['/toString/x', false],
    ['/__proto__', false],
  ]
  for (const [path, expected] of handled) {
    it(`${expected ? 'serves' : 'ignores'} ${path}`, () => {
      expect(createProbes([]).handles(path)).to.equal(expected)
    })
  }
})
