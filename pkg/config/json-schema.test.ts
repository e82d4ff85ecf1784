import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { document, parseConfig } from './config.ts'
import { configSchema } from './json-schema.ts'
import { optionsOf } from './option-list.ts'

const schema: Schema = configSchema()
const validate = new Ajv2020({ strict: false }).compile(schema)

describe('configSchema', () => {
  it('describes every option with its default', () => {
    const { config } = parseConfig({})
    for (const { path, description } of optionsOf(document)) {
      const found = at(path)
      expect(found, path).to.include({ description })
      // Secrets are not part of Config.
      if (found?.default !== undefined && !/password|apiKey/.test(path))
        expect(valueAt(config, path), path).to.deep.equal(found.default)
    }
  })

  it('describes the accepted values', () => {
    expect(at('listen.port')).to.deep.include({ type: 'integer', minimum: 0, maximum: 65_535, default: 9443 })
    expect(at('logLevel')).to.deep.include({ enum: ['info', 'debug', 'warn', 'error'], default: 'info' })
    expect(at('tls.dnsNames')).to.deep.include({ type: 'array', items: { type: 'string' } })
    expect(at('http.enabled')).to.deep.include({ type: 'boolean', default: false })
    expect(at('groupDomain')?.pattern).to.be.a('string')
  })

  const valid: readonly object[] = [
    {},
    { listen: { port: 1 }, oauth: { clients: [{ name: 'a', public: true }] } },
    { logs: { store: 'embedded', embedded: { retentionDays: 3 } }, logLevel: 'debug' },
  ]
  for (const given of valid) {
    it(`accepts ${JSON.stringify(given)}, as the program does`, () => {
      expect(validate(given), JSON.stringify(validate.errors)).to.equal(true)
      parseConfig(given)
    })
  }

  const invalid: readonly object[] = [
    { listen: { prot: 1 } },
    { listen: { port: 65_536 } },
    { oauth: { clients: [{ public: true }] } },
    { logLevel: 'trace' },
    { groupDomain: 'A' },
  ]
  for (const given of invalid) {
    it(`rejects ${JSON.stringify(given)}, as the program does`, () => {
      expect(validate(given)).to.equal(false)
      expect(() => parseConfig(given)).to.throw()
    })
  }
})

type Schema = {
  readonly description?: string
  readonly default?: unknown
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, Schema | boolean>>
}

function at(path: string): Schema | undefined {
  return path.split('.').reduce<Schema | undefined>((found, key) => {
    const member = found?.properties?.[key]
    return typeof member === 'object' ? member : undefined
  }, schema)
}

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((found, key) => Reflect.get(Object(found), key), value)
}
