import { expect } from 'chai'
import { parseConfig } from '../config.ts'
import { ConfigError } from '../config-error.ts'

function parse(input: object) {
  try {
    return { tracing: parseConfig({ tracing: input }).config.tracing, problems: [] }
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems }
    throw error
  }
}

describe('tracing', () => {
  it('is off by default', () => {
    const off = { endpoint: '', samplingRatePerMillion: 0, caFile: '' }
    expect(parse({})).to.deep.equal({ tracing: off, problems: [] })
  })

  for (const given of [
    { endpoint: 'http://collector:4318', samplingRatePerMillion: 1_000_000, caFile: '' },
    { endpoint: 'https://[::1]:4318/otlp/v1/traces', samplingRatePerMillion: 100, caFile: '/etc/ca.crt' },
  ])
    it(`reads ${given.endpoint}`, () => expect(parse(given)).to.deep.equal({ tracing: given, problems: [] }))

  const url = 'must be an http(s) URL without user, query or fragment, such as http://collector:4318'
  const rate = 'must be a whole number from 0 to 1000000'
  const invalid: readonly (readonly [given: object, key: string, message: string])[] = [
    [{ endpoint: 'collector:4317' }, 'endpoint', url],
    [{ endpoint: 'grpc://collector:4317' }, 'endpoint', url],
    [{ endpoint: 'http://user:word@collector:4318' }, 'endpoint', url],
    [{ endpoint: 'http://collector:4318/?key=1' }, 'endpoint', url],
    [{ endpoint: 'http://collector:99999' }, 'endpoint', url],
    [{ endpoint: 1 }, 'endpoint', 'must be a string'],
    [{ samplingRatePerMillion: -1 }, 'samplingRatePerMillion', `${rate}, not -1`],
    [{ samplingRatePerMillion: 1_000_001 }, 'samplingRatePerMillion', `${rate}, not 1000001`],
    [{ samplingRatePerMillion: 0.5 }, 'samplingRatePerMillion', `${rate}, not 0.5`],
    [{ endpoint: 'http://collector:4318', caFile: '/ca.crt' }, 'caFile', 'requires an https endpoint'],
    [{ sampler: 'all' }, 'sampler', `unknown; supported: endpoint, samplingRatePerMillion, caFile`],
  ]
  for (const [given, key, message] of invalid) {
    it(`rejects ${JSON.stringify(given)}`, () => {
      expect(parse(given).problems).to.deep.equal([{ path: `tracing.${key}`, message }])
    })
  }
})
