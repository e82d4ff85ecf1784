import { expect } from 'chai'
import { parseConfig } from '../config.ts'
import { ConfigError } from '../config-error.ts'

describe('tls', () => {
  it('accepts a certificate that is managed outside of Kapis', () => {
    const tls = {
      rolloverSeconds: 60,
      certFile: '/tls/tls.crt',
      keyFile: '/tls/tls.key',
      caFile: '/tls/ca.crt',
    }
    const { config } = parseConfig({ tls })
    expect(config.tls).to.deep.equal({ ...tls, dnsNames: [], ipAddresses: [] })
  })

  it('requires all of its files, or none', () => {
    const files = { certFile: '/tls/tls.crt', keyFile: '/tls/tls.key', caFile: '/tls/ca.crt' }
    for (const name of Object.keys(files)) {
      const path = `tls.${name}`
      const message = 'is required: certFile, keyFile and caFile must be set together'
      expect(problemsOf({ ...files, [name]: '' })).to.deep.equal([{ path, message }])
    }
  })

  it('rejects an overlap of zero', () => {
    expect(problemsOf({ rolloverSeconds: 0 })).to.deep.equal([
      { path: 'tls.rolloverSeconds', message: 'must be a whole number from 1 to 31536000, not 0' },
    ])
  })
})

function problemsOf(tls: object) {
  try {
    parseConfig({ tls })
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}
