import { expect } from 'chai'
import { audience, forge, issuer } from './fixtures.ts'
import { generateKey, loadKeySet, type StoredKey } from './key-set.ts'
import { parseRetiredKeys, type RetiredKey, retire } from './retired-keys.ts'
import { rotate } from './rotation.ts'
import { createTokenVerifier } from './verify.ts'

const hour = 3600
const day = 24 * hour
const start = 1_000_000
const tokenSeconds = 4 * hour

describe('retire', () => {
  let first: readonly StoredKey[]
  let dropped: readonly StoredKey[]
  let current: readonly StoredKey[]
  before(async () => {
    const options = { rotateAfterSeconds: 30 * day, tokenSeconds }
    first = (await rotate([], { ...options, nowSeconds: start })) ?? []
    dropped = (await rotate(first, { ...options, nowSeconds: start + 30 * day - hour })) ?? []
    current = (await rotate(dropped, { ...options, nowSeconds: start + 31 * day })) ?? []
  })
  const kids = (keys: readonly { kid: string }[]) => keys.map(({ kid }) => kid)

  it('keeps the public key of a rotated key until the sessions that began with it have expired', () => {
    const requests: number[][] = []
    const retired = retire([], { before: dropped, after: current }, (from, until) => {
      requests.push([from, until])
      return true
    })
    expect(kids(retired)).to.have.members(kids(first))
    expect(requests).to.deep.equal(Array(2).fill([start, start + 30 * day]))
    for (const { alg, jwk } of retired)
      expect(Object.keys(jwk)).to.have.members(
        alg === 'ES256'
          ? ['use', 'alg', 'kid', 'kty', 'crv', 'x', 'y']
          : ['use', 'alg', 'kid', 'kty', 'n', 'e'],
      )
    const again = { before: current, after: current }
    expect(retire(retired, again, () => true)).to.deep.equal(retired)
    expect(retire(retired, again, () => false)).to.deep.equal([])
    expect(retire([], { before: dropped, after: current }, () => false)).to.deep.equal([])
  })

  it('keeps at most a hundred keys, the newest', async () => {
    const key = await generateKey('ES256', 0)
    const many = Array.from({ length: 120 }, (_, i) => ({
      ...key,
      kid: `k${i}`,
      signsFrom: i,
      signsUntil: i + 1,
    }))
    const kept = retire(many, { before: [], after: [] }, () => true)
    expect([kept.length, kept[0]?.kid, kept.at(-1)?.kid]).to.deep.equal([100, 'k20', 'k119'])
  })

  it('parses what it has written, and rejects private keys', () => {
    const retired = retire([], { before: dropped, after: current }, () => true)
    expect(parseRetiredKeys(JSON.stringify(retired))).to.deep.equal(retired)
    const [key] = first
    for (const wrong of [
      '{}',
      '[1]',
      JSON.stringify([{ ...key, signsUntil: 1 }]),
      JSON.stringify([{ kid: 'x' }]),
    ])
      expect(() => parseRetiredKeys(wrong), wrong.slice(0, 20)).to.throw(
        'retired.json is not a list of public keys',
      )
  })

  describe('returns a key', () => {
    let retired: readonly RetiredKey[]
    before(() => {
      retired = retire([], { before: dropped, after: current }, () => true)
    })
    async function verifier() {
      const set = await loadKeySet(current, retired)
      const keys = { current: () => set }
      return { set, ...createTokenVerifier({ issuer, audience, clockSkewSeconds: 0, keys }) }
    }

    for (const alg of ['ES256', 'RS256'] as const) {
      it(`that verifies ID token hints: ${alg}`, async () => {
        const { readIdTokenHint } = await verifier()
        const key = first.find(each => each.alg === alg)
        if (key === undefined) throw new Error('no key')
        const hint = await forge(key, { aud: ['web'], token_type: undefined }, { typ: 'JWT' })
        expect(await readIdTokenHint(hint)).to.deep.equal({ sub: 'alice', sid: 'sid-1', clientId: 'web' })
      })
    }

    it('that verifies no other token, and is not published', async () => {
      const { set, verifyAccess, verifyRefresh } = await verifier()
      const [key] = first
      if (key === undefined) throw new Error('no key')
      const refused = async (verify: Promise<unknown>) => verify.then(() => 'good').catch(() => 'refused')
      expect(await refused(verifyAccess(await forge(key)))).to.equal('refused')
      const refresh = await forge(key, { aud: [issuer], token_type: 'refresh_token' }, { typ: 'JWT' })
      expect(await refused(verifyRefresh(refresh))).to.equal('refused')
      expect(kids(set.jwks().keys.map(({ kid = '' }) => ({ kid })))).to.have.members(kids(current))
    })
  })
})
