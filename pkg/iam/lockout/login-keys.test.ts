import { expect } from 'chai'
import { createLoginKeys } from './login-keys.ts'

describe('createLoginKeys', () => {
  const keys = createLoginKeys(() => Buffer.from('secret'))

  for (const spelled of [
    'Alice Doe',
    ' alice doe ',
    'alice  doe',
    'ALICE\tDOE',
    'ａlice doe',
    'alice\u00a0doe',
  ])
    it(`treats ${JSON.stringify(spelled)} as the name that a directory would find`, () => {
      expect(keys.login(spelled)).to.equal(keys.login('alice doe'))
    })

  it('counts other names separately, and hashes them', () => {
    for (const other of ['alicedoe', 'alice.doe', 'alice doe@example.org', 'älice doe', ''])
      expect(keys.login(other)).to.not.equal(keys.login('alice doe'))
    expect(keys.login('alice doe')).to.match(/^login:[0-9a-f]{32}$/)
  })
})
