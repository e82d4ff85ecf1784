import { expect } from 'chai'
import { createCa } from '../../certs/issue.ts'
import { createCaBundleMerge } from './ca-bundle-merge.ts'

const ca = (commonName: string, now = new Date()) => createCa({ commonName, validityDays: 1, now }).certPem
const [old, next] = [ca('old'), ca('next')]
const keepMs = 60_000

describe('createCaBundleMerge', () => {
  let nowMs = 0
  beforeEach(() => {
    nowMs = 0
  })
  const create = () => createCaBundleMerge(keepMs, () => nowMs)
  const count = (pem: string) => pem.split('BEGIN CERTIFICATE').length - 1

  it('returns only its own CA without others', () => {
    for (const there of ['', next, 'no certificate'])
      expect(create()(next, there)).to.deep.equal({ pem: next, lookAgainMs: undefined })
  })

  it('lets two replicas with different files agree, and removes the old CA after a while', () => {
    const [early, late] = [create(), create()]
    const both = early(next, old)
    expect([count(both.pem), both.pem.includes(old.trim()), both.lookAgainMs]).to.deep.equal([
      2,
      true,
      keepMs,
    ])
    // A replica that still has the old files changes nothing.
    expect(late(old, both.pem).pem).to.equal(both.pem)
    nowMs = 10_000
    expect(late(next, both.pem).pem).to.equal(both.pem)
    expect(early(next, both.pem)).to.deep.equal({ pem: both.pem, lookAgainMs: keepMs - 10_000 })
    nowMs = keepMs
    expect(early(next, both.pem)).to.deep.equal({ pem: next, lookAgainMs: undefined })
    expect(late(next, next)).to.deep.equal({ pem: next, lookAgainMs: undefined })
  })

  it('drops expired and invalid certificates, and all others if disabled', () => {
    const over = ca('over', new Date(Date.now() - 3 * 86_400_000))
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    for (const there of [over, broken]) expect(create()(next, there).pem).to.equal(next)
    expect(createCaBundleMerge(0)(next, old)).to.deep.equal({ pem: next, lookAgainMs: undefined })
  })
})
