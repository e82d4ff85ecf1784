import { expect } from 'chai'
import { isVerified, readChallenge } from './pkce.ts'

// The example of RFC 7636 appendix B.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

describe('readChallenge', () => {
  const read = (params: Record<string, string>, isRequired = true) =>
    readChallenge(new Map(Object.entries(params)), { isRequired })

  it('accepts S256', () => {
    expect(read({ code_challenge: challenge, code_challenge_method: 'S256' })).to.equal(challenge)
    expect(read({}, false)).to.equal('')
  })

  const refused: readonly [string, Record<string, string>, boolean?][] = [
    ['the parameter code_challenge is required for public clients', {}],
    ['code_challenge_method requires code_challenge', { code_challenge_method: 'S256' }, false],
    ['the parameter code_challenge_method must be S256', { code_challenge: challenge }],
    [
      'the parameter code_challenge_method must be S256',
      { code_challenge: challenge, code_challenge_method: 'plain' },
      false,
    ],
    [
      'the parameter code_challenge must be a SHA-256 in base64url',
      { code_challenge: `${challenge}=`, code_challenge_method: 'S256' },
    ],
  ]
  for (const [message, params, isRequired] of refused)
    it(`rejects ${JSON.stringify(params)}`, () => {
      expect(() => read(params, isRequired))
        .to.throw(message)
        .that.includes({ code: 400, reason: 'invalid_request' })
    })
})

describe('isVerified', () => {
  const table: readonly [string, string, string | undefined, boolean][] = [
    ['the matching verifier', challenge, verifier, true],
    ['neither', '', undefined, true],
    ['a missing verifier', challenge, undefined, false],
    ['a verifier without a challenge', '', verifier, false],
    ['another verifier', challenge, `${verifier.slice(0, -1)}l`, false],
    ['the challenge itself', challenge, challenge, false],
    ['a verifier that is too short', challenge, 'x', false],
    ['a verifier that is too long', challenge, 'x'.repeat(129), false],
    ['a verifier with other characters', challenge, `${verifier.slice(0, -1)}ä`, false],
  ]
  for (const [what, given, with_, expected] of table)
    it(`${expected ? 'accepts' : 'rejects'} ${what}`, () =>
      expect(isVerified(given, with_)).to.equal(expected))
})
