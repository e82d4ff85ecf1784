import { expect } from 'chai'
import { generateKey, loadKeySet, parseStoredKeys } from './key-set.ts'

describe('loadKeySet', () => {
  it('publishes the public part of every key, including keys that do not sign yet', async () => {
    const stored = [await generateKey('ES256', 0), await generateKey('RS256', 2_000_000_000)]
    const { keys } = (await loadKeySet(stored)).jwks()
    expect(keys.map(key => Object.keys(key).sort())).to.deep.equal([
      ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
      ['alg', 'e', 'kid', 'kty', 'n', 'use'],
    ])
    expect(keys.map(({ kid, alg, use }) => ({ kid, alg, use }))).to.deep.equal([
      { kid: stored[0]?.kid, alg: 'ES256', use: 'sig' },
      { kid: stored[1]?.kid, alg: 'RS256', use: 'sig' },
    ])
  })

  it('signs with the newest active key', async () => {
    const [old, current, next] = [
      await generateKey('ES256', 100),
      await generateKey('ES256', 200),
      await generateKey('ES256', 300),
    ]
    const set = await loadKeySet([next, old, current])
    expect(set.signer('ES256', 199).kid).to.equal(old.kid)
    expect(set.signer('ES256', 200).kid).to.equal(current.kid)
    expect(set.signer('ES256', 1000).kid).to.equal(next.kid)
    expect(() => set.signer('ES256', 99)).to.throw('no ES256 signing key')
    expect(() => set.signer('RS256', 1000)).to.throw('no RS256 signing key')
  })

  it('finds a key for its own algorithm only', async () => {
    const key = await generateKey('RS256', 0)
    const set = await loadKeySet([key])
    expect(set.find(key.kid, 'RS256')?.type).to.equal('public')
    for (const alg of ['HS256', 'ES256', 'none', '']) expect(set.find(key.kid, alg), alg).to.equal(undefined)
    expect(set.find('other', 'RS256')).to.equal(undefined)
    expect(set.find('__proto__', 'RS256')).to.equal(undefined)
  })

  it('rejects a key that cannot sign with its algorithm', async () => {
    const key = await generateKey('ES256', 0)
    let message = ''
    await loadKeySet([{ ...key, alg: 'RS256' }]).catch(error => {
      message = error.message
    })
    expect(message).to.equal(`key ${key.kid} is of type EC and cannot sign with RS256`)
  })
})

describe('parseStoredKeys', () => {
  it('parses what was written', async () => {
    const stored = [await generateKey('ES256', 5)]
    expect(parseStoredKeys(JSON.stringify(stored))).to.deep.equal(stored)
  })

  const key = { kid: 'k', alg: 'ES256', signsFrom: 1, jwk: { kty: 'EC', d: 'private' } }
  const invalid: readonly [string, unknown][] = [
    ['a value that is not a list', key],
    ['null', null],
    ['a list of null', [null]],
    ['a missing kid', [{ ...key, kid: undefined }]],
    ['an unknown algorithm', [{ ...key, alg: 'HS256' }]],
    ['a time that is a string', [{ ...key, signsFrom: '1' }]],
    ['no JWK', [{ ...key, jwk: 'private' }]],
    ['a JWK of null', [{ ...key, jwk: null }]],
  ]
  for (const [what, document] of invalid) {
    it(`rejects ${what}, without quoting it`, () => {
      expect(() => parseStoredKeys(JSON.stringify(document))).to.throw(
        /^keys\.json is not a list of signing keys$/,
      )
    })
  }
})
