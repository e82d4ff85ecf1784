import { expect } from 'chai'
import fc from 'fast-check'
import { toUserName } from './user-name.ts'

describe('toUserName', () => {
  const cases: readonly [string, string | undefined][] = [
    ['alice', 'alice'],
    ['Alice', 'alice'],
    ['alice_b', 'alice-b'],
    ['alice@example.com', 'alice-example.com'],
    ['CORP\\alice', 'corp-alice'],
    ['Zoë Müller', 'zoe-muller'],
    ['a..b', 'a.b'],
    ['a.-b-.c', 'a.b.c'],
    ['-alice-', 'alice'],
    ['system:admin', 'system-admin'],
    ['007', '007'],
    ['李', undefined],
    ['a\u0000d\u001bmin', 'a-d-min'],
    ['ａｄｍｉｎ', 'admin'],
    ['\u202eadmin\u2066', 'admin'],
    ['аdmin', 'dmin'],
    ['a'.repeat(100_000), undefined],
    ['', undefined],
    ['___', undefined],
    ['a'.repeat(63), 'a'.repeat(63)],
    ['a'.repeat(64), undefined],
  ]
  for (const [name, made] of cases) {
    it(`turns ${JSON.stringify(name.slice(0, 20))} into ${made}`, () =>
      expect(toUserName(name)).to.equal(made))
  }

  it('adds a prefix, within the length limit', () => {
    expect(toUserName('Alice', 'gh-')).to.equal('gh-alice')
    expect(toUserName('a'.repeat(61), 'gh-')).to.equal(undefined)
  })

  it('returns only names that Kubernetes accepts, and does not change its own results', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), name => {
        const made = toUserName(name)
        if (made === undefined) return true
        return (
          /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(made) &&
          toUserName(made) === made
        )
      }),
    )
  })
})
