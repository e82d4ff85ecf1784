import { expect } from 'chai'
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { remoteKeys } from './remote-keys.ts'

describe('remoteKeys', () => {
  const clock = { nowMs: 0 }
  let key: Awaited<ReturnType<typeof generateKeyPair>>
  let fetched = 0
  let respond: () => Response
  before(async () => {
    key = await generateKeyPair('ES256', { extractable: true })
  })
  beforeEach(() => {
    clock.nowMs = 0
    fetched = 0
  })

  const fetch = async () => {
    fetched++
    return respond()
  }
  const keySet = async () => {
    const jwks = { keys: [{ ...(await exportJWK(key.publicKey)), kid: 'a' }] }
    return () => Response.json(jwks)
  }
  const create = () => remoteKeys('https://ci.example.org/keys', fetch, 1_000, () => clock.nowMs)
  const sign = (kid = 'a') =>
    new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid }).setSubject('x').sign(key.privateKey)

  it('fetches keys once for concurrent tokens', async () => {
    respond = await keySet()
    const keys = create()
    const token = await sign()
    await Promise.all([1, 2, 3].map(() => jwtVerify(token, keys)))
    expect(fetched).to.equal(1)
  })

  const broken: readonly (readonly [string, () => Response])[] = [
    ['an error', () => new Response('', { status: 500 })],
    ['no JSON', () => new Response('<html>')],
    ['an invalid key set', () => Response.json({ keys: 'none' })],
    [
      'a redirect',
      () => new Response('', { status: 302, headers: { location: 'https://other.example.org' } }),
    ],
    [
      'a broken connection',
      () => {
        throw new Error('ECONNREFUSED')
      },
    ],
  ]
  for (const [what, behavior] of broken) {
    it(`sends no request for some seconds after ${what}`, async () => {
      respond = behavior
      const keys = create()
      const failed = async () => {
        const error = await jwtVerify(await sign(`k${fetched}`), keys).catch(cause => cause)
        expect(error).to.be.instanceOf(Error)
      }
      for (let i = 0; i < 5; i++) await failed()
      expect(fetched).to.equal(1)
      clock.nowMs = 5_000
      respond = await keySet()
      expect((await jwtVerify(await sign(), keys)).payload.sub).to.equal('x')
      expect(fetched).to.equal(2)
    })
  }
})
