import { expect } from 'chai'
import {
  hasOwnFactor,
  isMultiFactor,
  loginClaims,
  methodClaims,
  missingContextClass,
  readLoginClaims,
  withFactor,
} from './authentication-methods.ts'

describe('authentication methods', () => {
  for (const [methods, claims, isMulti, isOwn] of [
    ['', {}, false, false],
    ['pwd', { amr: ['pwd'], acr: 'sfa' }, false, false],
    ['mfa', { amr: ['mfa'], acr: 'mfa' }, true, false],
    ['pwd otp mfa', { amr: ['pwd', 'otp', 'mfa'], acr: 'mfa' }, true, true],
  ] as const) {
    it(`turns ${JSON.stringify(methods)} into the claims ${JSON.stringify(claims)}`, () => {
      expect(methodClaims(methods)).to.deep.equal(claims)
      expect([isMultiFactor(methods), hasOwnFactor(methods)]).to.deep.equal([isMulti, isOwn])
    })
  }

  for (const [what, login, claims] of [
    ['without a login', undefined, {}],
    ['of an unknown time', { amr: 'pwd', authTime: 0 }, {}],
    ['of unknown methods', { amr: '', authTime: 7 }, { auth_time: 7 }],
    [
      'of two factors',
      { amr: 'pwd otp mfa', authTime: 7 },
      { auth_time: 7, amr: ['pwd', 'otp', 'mfa'], acr: 'mfa' },
    ],
  ] as const) {
    it(`turns those ${what} into the claims of a token, and back`, () => {
      expect(loginClaims(login)).to.deep.equal(claims)
      expect(readLoginClaims(claims)).to.deep.equal(Object.keys(claims).length === 0 ? undefined : login)
    })
  }

  it('are not read from malformed claims', () => {
    expect(readLoginClaims({ auth_time: '7', amr: ['pwd'] })).to.equal(undefined)
    expect(readLoginClaims({ auth_time: 7, amr: 'pwd' })).to.deep.equal({ authTime: 7, amr: '' })
    expect(readLoginClaims({ auth_time: 7, amr: [1, 'pwd'] })).to.deep.equal({ authTime: 7, amr: 'pwd' })
  })

  it('get a second factor only once, and mfa last', () => {
    expect(withFactor('pwd', ['otp'])).to.equal('pwd otp mfa')
    expect(withFactor('', ['otp'])).to.equal('otp mfa')
    expect(withFactor('mfa', ['otp'])).to.equal('otp mfa')
    expect(withFactor('pwd otp mfa', ['otp'])).to.equal('pwd otp mfa')
  })

  for (const [acrValues, methods, missing] of [
    [undefined, 'pwd', undefined],
    ['', 'pwd', undefined],
    ['mfa', 'pwd', 'mfa'],
    ['mfa', 'pwd otp mfa', undefined],
    ['sfa', '', undefined],
    ['mfa sfa', 'pwd', undefined],
    ['1 2 urn:other', 'pwd', undefined],
    ['urn:other mfa', 'pwd', 'mfa'],
    ['constructor', 'pwd', undefined],
  ] as const) {
    it(`${JSON.stringify(methods)} lack ${missing} for acr_values=${acrValues}`, () => {
      expect(missingContextClass(acrValues, methods)).to.equal(missing)
    })
  }
})
