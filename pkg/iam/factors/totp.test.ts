import { expect } from 'chai'
import { findTotpStep, newTotpSecret, toTotpUri } from './totp.ts'

/** "12345678901234567890" in Base32, as in RFC 6238 appendix B. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

describe('TOTP', () => {
  // Appendix B lists eight digits; the last six are the six-digit code (RFC 4226 section 5.3).
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ] as const) {
    it(`accepts the code of RFC 6238 at ${seconds} s, one step early and late, but no further`, () => {
      const step = Math.floor(seconds / 30)
      const at = (shift: number) =>
        findTotpStep(secret, code, { lastStep: 0, nowMs: (seconds + shift) * 1000 })
      expect([at(0), at(30), at(-30)]).to.deep.equal([step, step, step])
      expect([at(60), at(-60)]).to.deep.equal([undefined, undefined])
    })
  }

  it('accepts a code once, and afterwards no code of an earlier step', () => {
    const nowMs = 1_111_111_111_000
    expect(findTotpStep(secret, '050471', { lastStep: 37_037_036, nowMs })).to.equal(37_037_037)
    expect(findTotpStep(secret, '050471', { lastStep: 37_037_037, nowMs })).to.equal(undefined)
    expect(findTotpStep(secret, '081804', { lastStep: 37_037_037, nowMs })).to.equal(undefined)
  })

  for (const code of ['', '05047', '0504711', '050472', '٠٥٠٤٧١', '-50471', '5.0471', '050471\u0000'])
    it(`rejects ${JSON.stringify(code)}`, () => {
      expect(findTotpStep(secret, code, { lastStep: 0, nowMs: 1_111_111_111_000 })).to.equal(undefined)
    })

  it('accepts a code with a space', () => {
    expect(findTotpStep(secret, '050 471', { lastStep: 0, nowMs: 1_111_111_111_000 })).to.equal(37_037_037)
  })

  it('creates secrets of 160 bits, and the URI for an authenticator app', () => {
    const made = newTotpSecret()
    expect(made)
      .to.match(/^[A-Z2-7]{32}$/)
      .and.not.equal(newTotpSecret())
    const uri = new URL(toTotpUri(made, { issuer: 'My Platform', label: 'alice' }))
    expect([uri.protocol, uri.host, uri.searchParams.get('secret')]).to.deep.equal(['otpauth:', 'totp', made])
    expect(decodeURIComponent(uri.pathname)).to.equal('/My Platform:alice')
    expect(uri.searchParams.get('issuer')).to.equal('My Platform')
  })
})
