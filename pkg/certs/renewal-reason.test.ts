import { expect } from 'chai'
import { createCa, issueCertificate } from './issue.ts'
import { renewalReason } from './renewal-reason.ts'

const now = new Date('2031-05-06T07:08:09Z')
const dayMs = 86_400_000
const ca = createCa({ commonName: 'test CA', validityDays: 3650, now })
const names = { dnsNames: ['kapis.kapis-system.svc'], ipAddresses: ['127.0.0.1'] }
const pair = issueCertificate(ca, {
  commonName: 'kapis',
  ...names,
  usages: ['server'],
  validityDays: 90,
  now,
})
const other = createCa({ commonName: 'test CA', validityDays: 3650, now })

describe('renewalReason', () => {
  const required = { names, nowMs: now.getTime() }

  it('returns nothing for a fresh pair', () => {
    expect(renewalReason(pair, ca.certPem, required)).to.equal(undefined)
  })

  it('requires renewal in the last third of the lifetime, and not before', () => {
    const aged = (days: number) =>
      renewalReason(pair, ca.certPem, { names, nowMs: now.getTime() + days * dayMs })
    expect([aged(59), aged(61), aged(91)]).to.deep.equal([
      undefined,
      'it is due for renewal',
      'it is due for renewal',
    ])
  })

  it('names the reason', () => {
    const more = { dnsNames: [...names.dnsNames, 'a.example'], ipAddresses: ['127.0.0.1', '10.0.0.1'] }
    const cases = [
      [renewalReason(pair, other.certPem, required), 'it was issued by another CA'],
      [
        renewalReason({ ...pair, keyPem: other.keyPem }, ca.certPem, required),
        'the private key does not match',
      ],
      [renewalReason({ ...pair, certPem: 'x' }, ca.certPem, required), 'it cannot be read'],
      [renewalReason({ ...pair, keyPem: 'x' }, ca.certPem, required), 'it cannot be read'],
      [
        renewalReason(pair, ca.certPem, { ...required, names: more }),
        'it is not valid for a.example, 10.0.0.1',
      ],
    ]
    for (const [found, expected] of cases) expect(found).to.equal(expected)
  })
})
