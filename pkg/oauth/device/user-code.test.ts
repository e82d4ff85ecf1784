import { expect } from 'chai'
import { newUserCode, readUserCode, toDeviceName } from './user-code.ts'

describe('user codes', () => {
  it('are easy to type and hard to guess', () => {
    const codes = Array.from({ length: 1000 }, newUserCode)
    for (const code of codes) expect(code).to.match(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect(new Set(codes).size).to.equal(1000)
    // 8,000 random letters contain each of the 20 letters, and the dash.
    expect(new Set(codes.join('')).size).to.equal(21)
  })

  const table: readonly [string, string | undefined][] = [
    ['WDJB-MJHT', 'WDJB-MJHT'],
    ['wdjbmjht', 'WDJB-MJHT'],
    [' wdjb mjht ', 'WDJB-MJHT'],
    ['ＷＤＪＢ－ＭＪＨＴ', 'WDJB-MJHT'],
    ['WDJB\u2013MJHT', 'WDJB-MJHT'],
    ['WDJB-MJH', undefined],
    ['WDJB-MJHTX', undefined],
    ['WDJB-MJHA', undefined],
    ['../../users', undefined],
    ['', undefined],
  ]
  for (const [typed, code] of table)
    it(`normalizes ${JSON.stringify(typed)} to ${code ?? 'nothing'}`, () =>
      expect(readUserCode(typed)).to.equal(code))

  it('are stored under a hash', () => {
    expect(toDeviceName('WDJB-MJHT'))
      .to.match(/^[0-9a-f]{40}$/)
      .and.not.equal(toDeviceName('WDJB-MJHX'))
  })
})
