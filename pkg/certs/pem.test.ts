import { expect } from 'chai'
import { splitCertificates } from './pem.ts'

describe('splitCertificates', () => {
  const one = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'
  const other = '-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----'
  const key = '-----BEGIN PRIVATE KEY-----\nCCCC\n-----END PRIVATE KEY-----'

  for (const [what, pem, expected] of [
    ['nothing', '', []],
    ['one', `${one}\n`, [one]],
    [
      'several certificates, with text and a key between',
      `# first\n${one}\n${key}\n# second\n${other}`,
      [one, other],
    ],
    ['a certificate that does not end', `${one}\n-----BEGIN CERTIFICATE-----\nAA`, [one]],
  ] as const) {
    it(`finds ${what}`, () => {
      expect(splitCertificates(pem)).to.deep.equal(expected)
    })
  }
})
