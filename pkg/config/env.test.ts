import { expect } from 'chai'
import { parseConfig } from './config.ts'
import { variables, withEnvironment } from './env.ts'

describe('withEnvironment', () => {
  it('gives environment variables precedence, and does not modify the file’s object', () => {
    const file = { groupDomain: 'a.io', listen: { address: '::', port: 1 } }
    const before = structuredClone(file)
    const result = withEnvironment(file, { KAPIS_LISTEN_PORT: '8443', KAPIS_LOG_LEVEL: 'warn' })
    expect(result).to.deep.equal({
      groupDomain: 'a.io',
      listen: { address: '::', port: '8443' },
      logLevel: 'warn',
    })
    expect(file).to.deep.equal(before)
  })

  it('creates mappings that the file does not have', () => {
    expect(withEnvironment(undefined, { KAPIS_OAUTH_ISSUER: 'https://a/oauth' })).to.deep.equal({
      oauth: { issuer: 'https://a/oauth' },
    })
    expect(withEnvironment({ oauth: null }, { KAPIS_OAUTH_AUDIENCE: 'x' })).to.deep.equal({
      oauth: { audience: 'x' },
    })
  })

  it('treats an empty variable as unset', () => {
    expect(withEnvironment({ groupDomain: 'a.io' }, { KAPIS_GROUP_DOMAIN: '' })).to.deep.equal({
      groupDomain: 'a.io',
    })
  })

  it('reads only the variables of options', () => {
    expect(withEnvironment({}, { KAPIS_OAUTH_CLIENTS: 'x', PATH: '/bin', KAPIS_ADMIN: '1' })).to.deep.equal(
      {},
    )
  })

  it('leaves values that are not mappings for the parser to report', () => {
    expect(withEnvironment({ listen: 'x' }, { KAPIS_LISTEN_PORT: '1' })).to.deep.equal({ listen: 'x' })
    expect(withEnvironment([], { KAPIS_LISTEN_PORT: '1' })).to.deep.equal([])
    expect(withEnvironment('text', { KAPIS_GROUP_DOMAIN: 'a.io' })).to.equal('text')
  })

  const valid: Readonly<Record<string, string>> = {
    KAPIS_LISTEN_PORT: '1',
    KAPIS_HTTP_ENABLED: 'true',
    KAPIS_MULTICLUSTER_ENABLED: 'true',
    KAPIS_HTTP_PORT: '2',
    KAPIS_SERVICE_PORT: '3',
    KAPIS_TLS_ROLLOVER_SECONDS: '60',
    KAPIS_OAUTH_ISSUER: 'https://a/oauth',
    KAPIS_TRUSTED_PROXIES: '10.0.0.0/8,::1',
    KAPIS_MULTIPLE_LOGIN: 'false',
    KAPIS_BASIC_FOR_APIS: 'true',
    KAPIS_AUTHENTICATE_RATE_LIMITER_MAX_TRIES: '5',
    KAPIS_AUTHENTICATE_RATE_LIMITER_MAX_TRIES_PER_ADDRESS: '6',
    KAPIS_AUTHENTICATE_RATE_LIMITER_DURATION_SECONDS: '7',
    KAPIS_LOGIN_HISTORY_RETENTION_PERIOD_SECONDS: '60',
    KAPIS_LOGIN_HISTORY_MAXIMUM_ENTRIES: '11',
    KAPIS_LOGS_STORE: 'none',
    KAPIS_LOGS_OPENSEARCH_URL: 'https://a',
    KAPIS_TRACING_ENDPOINT: 'http://a:4318',
    KAPIS_TRACING_SAMPLING_RATE_PER_MILLION: '5',
    KAPIS_LOG_LEVEL: 'error',
    KAPIS_ACCESS_LOG: 'true',
    KAPIS_SHUTDOWN_DELAY_SECONDS: '4',
  }
  for (const { name, path } of variables()) {
    it(`reads ${name} as ${path}`, () => {
      const value = valid[name] ?? 'a'
      const isFile = /^KAPIS_TLS_.*_FILE$/.test(name)
      const file = isFile ? { tls: { certFile: '/c', keyFile: '/k', caFile: '/a' } } : {}
      const on = name.startsWith('KAPIS_HTTP_') ? { KAPIS_HTTP_ENABLED: 'true' } : {}
      const { config } = parseConfig(withEnvironment(file, { ...on, [name]: value }))
      const found = path.split('.').reduce<unknown>((at, key) => Reflect.get(Object(at), key), config)
      expect(String(found)).to.equal(value)
    })
  }

  it('has no variable for a secret', () => {
    expect(variables().filter(({ name, path }) => /secret|password|client/i.test(name + path))).to.deep.equal(
      [],
    )
  })
})
