import { expect } from 'chai'
import { createIssuerKeys } from './issuer-keys.ts'

describe('createIssuerKeys', () => {
  const clock = { nowMs: 0 }
  let requests: string[] = []
  let metadata: (issuer: string) => Response
  const issuer = 'https://ci.example.org'
  const good = (iss: string) => Response.json({ issuer: iss, jwks_uri: `${iss}/keys` })
  const fetch = async (url: string) => {
    requests.push(url)
    return metadata(new URL(url).origin)
  }
  const create = () => createIssuerKeys(fetch, () => clock.nowMs)
  beforeEach(() => {
    clock.nowMs = 0
    requests = []
    metadata = good
  })

  it('sends one request per issuer for concurrent tokens', async () => {
    const keysOf = create()
    const [first, second] = await Promise.all([
      keysOf(issuer),
      keysOf(issuer),
      keysOf('https://b.example.org'),
    ])
    expect(first).to.equal(second)
    expect(requests).to.deep.equal([
      'https://ci.example.org/.well-known/openid-configuration',
      'https://b.example.org/.well-known/openid-configuration',
    ])
  })

  it('requests the keys again after ten minutes', async () => {
    const keysOf = create()
    await keysOf(issuer)
    clock.nowMs = 599_999
    await keysOf(issuer)
    expect(requests).to.have.length(1)
    clock.nowMs = 600_000
    await keysOf(issuer)
    expect(requests).to.have.length(2)
  })

  const bad: readonly (readonly [string, () => Response])[] = [
    ['an error', () => new Response('', { status: 503 })],
    ['metadata of another issuer', () => good('https://evil.example.org')],
    ['a JWKS URL without TLS', () => Response.json({ issuer, jwks_uri: 'http://ci.example.org/keys' })],
    ['a missing JWKS URL', () => Response.json({ issuer })],
  ]
  for (const [what, respond] of bad) {
    it(`sends no request for some seconds after ${what}`, async () => {
      const keysOf = create()
      metadata = respond
      for (let i = 0; i < 5; i++) expect(await keysOf(issuer).catch(error => error)).to.be.instanceOf(Error)
      expect(requests).to.have.length(1)
      metadata = good
      clock.nowMs = 5_000
      expect(await keysOf(issuer)).to.be.a('function')
      expect(requests).to.have.length(2)
    })
  }
})
