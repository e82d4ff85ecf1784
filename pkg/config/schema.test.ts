import { expect } from 'chai'
import { parseConfig } from './config.ts'
import { reference } from './reference.ts'
import { configSchema } from './schema.ts'

const schema = configSchema()

describe('configSchema', () => {
  it('knows every member of the reference', () => {
    const unknown = reference.map(({ path }) => path).filter(path => at(path) === undefined)
    expect(unknown).to.deep.equal([])
  })

  it('says of each what the parser takes', () => {
    expect(at('listen.port')).to.deep.include({ type: 'integer', minimum: 0, maximum: 65_535, default: 9443 })
    expect(at('logLevel')).to.deep.include({ enum: ['info', 'debug', 'warn', 'error'], default: 'info' })
    expect(at('tls.dnsNames')).to.deep.include({ type: 'array', items: { type: 'string' } })
    expect(at('http.enabled')).to.deep.include({ type: 'boolean', default: false })
    expect(at('groupDomain')?.pattern).to.be.a('string')
    expect(schema.additionalProperties).to.equal(false)
  })

  it('has the defaults of the parser', () => {
    const { config } = parseConfig({})
    for (const { path } of reference) {
      const wanted = path.split('.').reduce<unknown>((value, key) => Reflect.get(Object(value), key), config)
      const given = at(path)?.default
      if (given !== undefined && wanted !== undefined) expect(given, path).to.deep.equal(wanted)
    }
  })

  it('has patterns that its own defaults match', () => {
    for (const { path } of reference) {
      const { pattern, default: value } = at(path) ?? {}
      if (typeof pattern !== 'string' || typeof value !== 'string' || value === '') continue
      expect(value, path).to.match(new RegExp(pattern, 'u'))
    }
  })
})

function at(path: string) {
  return path
    .split('.')
    .reduce<ReturnType<typeof configSchema> | undefined>((found, key) => found?.properties?.[key], schema)
}
