import { expect } from 'chai'
import { parseConfig } from './config.ts'
import { ConfigError, type Problem } from './config-error.ts'
import { defaults } from './fixtures.ts'
import { defaultClient } from './sections/built-in-clients.ts'
import { clientFields } from './sections/client.ts'

function problemsOf(input: unknown): readonly Problem[] {
  try {
    parseConfig(input)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

const withoutPassword = defaultClient.grantTypes.filter(type => type !== 'password')

describe('parseConfig', () => {
  it('requires no option', () => {
    const { config, secrets } = parseConfig({})
    expect(config).to.deep.equal(defaults)
    expect([...secrets.clientSecrets]).to.deep.equal([['kapis', 'kapis']])
  })

  it('treats null, which is how YAML reads a key without a value, as unset', () => {
    const { config } = parseConfig({
      groupDomain: null,
      listen: null,
      oauth: { clients: null, issuer: null },
    })
    expect(config).to.deep.equal(defaults)
  })

  it('derives defaults from other options', () => {
    const { config } = parseConfig({ groupDomain: 'kubesphere.io', listen: { port: 8443 } })
    expect(config.oauth).to.deep.include({
      issuer: 'https://localhost:8443/oauth',
      audience: 'kubesphere.io',
    })
  })

  it('reads every option', () => {
    const unchanged = {
      cache: { idleSeconds: 5, maxMegabytes: 64, platformReads: 'consistent', clusterLists: 'narrowed' },
      multicluster: { enabled: true },
      registries: { caFile: '/etc/ca.pem', trustedHosts: ['localhost:5000'] },
      authentication: {
        multipleLogin: false,
        secondFactorGroups: ['ops', 'system:authenticated'],
        basicForApis: true,
        constrainedImpersonation: 'off',
        authenticateRateLimiterMaxTries: 3,
        authenticateRateLimiterMaxTriesPerAddress: 7,
        authenticateRateLimiterDurationSeconds: 60,
        loginHistoryRetentionPeriodSeconds: 3600,
        loginHistoryMaximumEntries: 5,
      },
      limits: defaults.limits,
      audit: defaults.audit,
      tracing: { endpoint: 'https://a:4318', samplingRatePerMillion: 7, caFile: '/etc/ca.crt' },
      accessLog: true,
    }
    const { config } = parseConfig({
      groupDomain: 'platform.example.org',
      listen: { address: '::', port: 0, trustedProxies: ['10.0.0.0/8', '::1'] },
      http: { enabled: true, address: '127.0.0.1', port: 80 },
      kubernetes: { kubeconfig: '/etc/kubeconfig', namespace: 'ns-1' },
      service: { name: 'front', port: 8443 },
      tls: { dnsNames: ['a.example.org'], ipAddresses: ['10.0.0.1', '::1'] },
      oauth: {
        issuer: 'https://a.example.org/oauth',
        productName: 'Platform',
        socket: '/tmp/s',
        audience: 'aud',
        accessTokenSeconds: 60,
        refreshTokenSeconds: 60,
        loginMaxAgeSeconds: 60,
        clockSkewSeconds: 0,
        keyRotationSeconds: 60,
        clients: [
          { name: 'console', secret: 's1', redirectURIs: ['https://a.example.org/cb'] },
          { name: 'cli', public: true, redirectURIs: ['http://127.0.0.1/cb'] },
        ],
        tokenExchange: [{ name: 'p', source: 'User', clients: ['cli'] }],
      },
      ...unchanged,
      logs: {
        store: 'opensearch',
        queryTimeoutSeconds: 5,
        exportLimit: 7,
        embedded: {
          folder: '/data/logs',
          retentionDays: 3,
          retentionMegabytes: 100,
          memoryMegabytes: 256,
          namespaces: [{ name: 'dev-*', retentionDays: 2, quotaMegabytes: 5 }],
        },
        opensearch: {
          url: 'https://search.example.org:9200',
          username: 'kapis',
          password: 'p',
          caFile: '/etc/ca.crt',
          indexPrefix: 'ks-logs',
        },
        events: { enabled: false, retentionDays: 2, retentionMegabytes: 16 },
        auditing: { enabled: false, retentionDays: 90, retentionMegabytes: 200 },
        recordings: {
          policies: [{ name: 'shop', namespaces: ['shop-*'], users: ['jane'], groups: ['dev'] }],
          ...{ maxMegabytes: 1, retentionDays: 2, retentionMegabytes: 16 },
        },
      },
      logLevel: 'debug',
      shutdownDelaySeconds: 300,
    })
    expect(config).to.deep.equal({
      groupDomain: 'platform.example.org',
      listen: { address: '::', port: 0, trustedProxies: ['10.0.0.0/8', '::1'] },
      http: { enabled: true, address: '127.0.0.1', port: 80 },
      kubernetes: { kubeconfig: '/etc/kubeconfig', namespace: 'ns-1' },
      service: { name: 'front', port: 8443 },
      tls: { ...defaults.tls, dnsNames: ['a.example.org'], ipAddresses: ['10.0.0.1', '::1'] },
      oauth: {
        issuer: 'https://a.example.org/oauth',
        productName: 'Platform',
        socket: '/tmp/s',
        audience: 'aud',
        accessTokenSeconds: 60,
        refreshTokenSeconds: 60,
        loginMaxAgeSeconds: 60,
        clockSkewSeconds: 0,
        keyRotationSeconds: 60,
        clients: [
          {
            ...defaultClient,
            name: 'console',
            trusted: false,
            redirectURIs: ['https://a.example.org/cb'],
            grantTypes: withoutPassword,
          },
          {
            ...defaultClient,
            name: 'cli',
            trusted: false,
            redirectURIs: ['http://127.0.0.1/cb'],
            public: true,
            grantTypes: withoutPassword,
          },
        ],
        tokenExchange: [
          {
            ...{ name: 'p', source: 'User', clients: ['cli'], subjects: [], claims: {}, scope: '' },
            ...{ audiences: [], maxSeconds: 900 },
          },
        ],
      },
      ...unchanged,
      logs: {
        store: 'opensearch',
        queryTimeoutSeconds: 5,
        exportLimit: 7,
        embedded: {
          folder: '/data/logs',
          retentionDays: 3,
          retentionMegabytes: 100,
          memoryMegabytes: 256,
          namespaces: [{ name: 'dev-*', retentionDays: 2, quotaMegabytes: 5 }],
        },
        opensearch: {
          url: 'https://search.example.org:9200',
          username: 'kapis',
          caFile: '/etc/ca.crt',
          indexPrefix: 'ks-logs',
        },
        events: { enabled: false, retentionDays: 2, retentionMegabytes: 16 },
        auditing: { enabled: false, retentionDays: 90, retentionMegabytes: 200 },
        recordings: {
          policies: [{ name: 'shop', namespaces: ['shop-*'], users: ['jane'], groups: ['dev'] }],
          ...{ maxMegabytes: 1, retentionDays: 2, retentionMegabytes: 16 },
        },
      },
      logLevel: 'debug',
      shutdownDelaySeconds: 300,
    })
  })

  it('accepts strings for numbers, booleans and lists, since environment variables are strings', () => {
    const { config } = parseConfig({
      listen: { port: '8443' },
      http: { enabled: 'true', port: '0' },
      tls: { dnsNames: 'a,b,', ipAddresses: '' },
      shutdownDelaySeconds: '0',
    })
    expect(config.listen.port).to.equal(8443)
    expect(config.http).to.deep.equal({ enabled: true, address: '0.0.0.0', port: 0 })
    expect(config.tls).to.deep.include({ dnsNames: ['a', 'b'], ipAddresses: [] })
    expect(config.shutdownDelaySeconds).to.equal(0)
  })

  it('omits secrets from the printable configuration', () => {
    const clients = [
      { name: 'console', secret: 'hunter2-console' },
      { name: 'cli', public: true },
    ]
    const { config, secrets } = parseConfig({ oauth: { clients } })
    expect(JSON.stringify(config)).to.not.contain('hunter2')
    expect([...secrets.clientSecrets]).to.deep.equal([['console', 'hunter2-console']])
  })

  it('has no OAuth client with an empty list', () => {
    const { config, secrets } = parseConfig({ oauth: { clients: [] } })
    expect(config.oauth.clients).to.deep.equal([])
    expect(secrets.clientSecrets.size).to.equal(0)
  })

  it('returns a frozen configuration', () => {
    expect(Object.isFrozen(parseConfig({}).config)).to.equal(true)
  })

  const dns = (value: string) => `must be a DNS subdomain such as kapis.io, not ${JSON.stringify(value)}`
  const url = (value: string) =>
    `must be an http(s) URL without query, fragment or trailing slash, not ${JSON.stringify(value)}`
  const whole = (min: number, max: number, given: string) =>
    `must be a whole number from ${min} to ${max}, not ${given}`
  const top =
    'unknown; supported: groupDomain, listen, http, kubernetes, service, tls, oauth, cache, multicluster, registries, authentication, limits, audit, tracing, accessLog, logs, logLevel, shutdownDelaySeconds'
  const invalid: readonly [string, unknown, Problem][] = [
    ['a list as the document', [], { path: '(document)', message: 'must be a mapping' }],
    ['a string as the document', 'x', { path: '(document)', message: 'must be a mapping' }],
    ['an unknown field', { groupdomain: 'x' }, { path: 'groupdomain', message: top }],
    [
      'a field named like a property of Object.prototype',
      JSON.parse('{"__proto__": {"port": 1}}'),
      { path: '__proto__', message: top },
    ],
    [
      'an unknown nested field',
      { listen: { prot: 1 } },
      { path: 'listen.prot', message: 'unknown; supported: address, port, trustedProxies' },
    ],
    [
      'a trusted proxy that is not an IP address',
      { listen: { trustedProxies: ['10.0.0.0/8', 'lb.example.org'] } },
      {
        path: 'listen.trustedProxies[1]',
        message: 'must be an IP address or a CIDR such as 10.0.0.0/8, not "lb.example.org"',
      },
    ],
    [
      'more login failures than are stored',
      { authentication: { authenticateRateLimiterMaxTries: 6, loginHistoryMaximumEntries: 5 } },
      {
        path: 'authentication.authenticateRateLimiterMaxTries',
        message: 'must not be more than authentication.loginHistoryMaximumEntries',
      },
    ],
    ['a string for a mapping', { listen: 'x' }, { path: 'listen', message: 'must be a mapping' }],
    ['a list for a mapping', { oauth: [] }, { path: 'oauth', message: 'must be a mapping' }],
    ['an upper-case domain', { groupDomain: 'Kapis.io' }, { path: 'groupDomain', message: dns('Kapis.io') }],
    ['an empty domain', { groupDomain: '' }, { path: 'groupDomain', message: dns('') }],
    ['a domain with a dot at the end', { groupDomain: 'a.' }, { path: 'groupDomain', message: dns('a.') }],
    ['a domain with a path', { groupDomain: 'a/b' }, { path: 'groupDomain', message: dns('a/b') }],
    ['a domain with a line feed', { groupDomain: 'a\n' }, { path: 'groupDomain', message: dns('a\n') }],
    ['a number for a domain', { groupDomain: 7 }, { path: 'groupDomain', message: 'must be a string' }],
    [
      'a port that is too high',
      { listen: { port: 65_536 } },
      { path: 'listen.port', message: whole(0, 65_535, '65536') },
    ],
    ['a port below 0', { listen: { port: -1 } }, { path: 'listen.port', message: whole(0, 65_535, '-1') }],
    [
      'a fractional port',
      { listen: { port: 1.5 } },
      { path: 'listen.port', message: whole(0, 65_535, '1.5') },
    ],
    [
      'a string for a port',
      { listen: { port: 'x' } },
      { path: 'listen.port', message: whole(0, 65_535, '"x"') },
    ],
    [
      'a port with a space',
      { listen: { port: '1 ' } },
      { path: 'listen.port', message: whole(0, 65_535, '"1 "') },
    ],
    [
      'a boolean for a port',
      { service: { port: true } },
      { path: 'service.port', message: whole(0, 65_535, 'true') },
    ],
    [
      'a string for a boolean',
      { http: { enabled: 'yes' } },
      { path: 'http.enabled', message: 'must be true or false' },
    ],
    [
      'an unknown log level',
      { logLevel: 'trace' },
      { path: 'logLevel', message: 'must be one of info, debug, warn, error' },
    ],
    [
      'a log level named like a property of Object.prototype',
      { logLevel: 'constructor' },
      { path: 'logLevel', message: 'must be one of info, debug, warn, error' },
    ],
    [
      'numbers in a list of names',
      { tls: { dnsNames: ['a', 1] } },
      { path: 'tls.dnsNames[1]', message: 'must be a string' },
    ],
    [
      'a mapping for a list',
      { tls: { dnsNames: {} } },
      { path: 'tls.dnsNames', message: 'must be a list of strings' },
    ],
    [
      'an issuer with a trailing slash',
      { oauth: { issuer: 'https://a/oauth/' } },
      { path: 'oauth.issuer', message: url('https://a/oauth/') },
    ],
    [
      'an issuer with a query',
      { oauth: { issuer: 'https://a/oauth?x=y' } },
      { path: 'oauth.issuer', message: url('https://a/oauth?x=y') },
    ],
    [
      'an issuer of another scheme',
      { oauth: { issuer: 'ftp://a/oauth' } },
      { path: 'oauth.issuer', message: url('ftp://a/oauth') },
    ],
    [
      'a token lifetime that is too short',
      { oauth: { accessTokenSeconds: 59 } },
      { path: 'oauth.accessTokenSeconds', message: whole(60, 86_400, '59') },
    ],
    [
      'a session shorter than a token',
      { oauth: { accessTokenSeconds: 100, refreshTokenSeconds: 99 } },
      { path: 'oauth.refreshTokenSeconds', message: 'must not be shorter than oauth.accessTokenSeconds' },
    ],
    [
      'a clock skew that is too long',
      { oauth: { clockSkewSeconds: 301 } },
      { path: 'oauth.clockSkewSeconds', message: whole(0, 300, '301') },
    ],
    [
      'keys that rotate less than once a year',
      { oauth: { keyRotationSeconds: 31_536_001 } },
      { path: 'oauth.keyRotationSeconds', message: whole(60, 31_536_000, '31536001') },
    ],
    [
      'a mapping for the clients',
      { oauth: { clients: { name: 'x' } } },
      { path: 'oauth.clients', message: 'must be a list' },
    ],
    [
      'a client that is not a mapping',
      {
        oauth: {
          clients: [
            { name: 'a', secret: 'b' },
            { name: 'c', public: true, typo: 1 },
          ],
        },
      },
      {
        path: 'oauth.clients[1].typo',
        message: `unknown; supported: ${Object.keys(clientFields).join(', ')}`,
      },
    ],
    [
      'a client without a name',
      { oauth: { clients: [{ secret: 'b' }] } },
      { path: 'oauth.clients[0].name', message: 'is required' },
    ],
    [
      'a duplicate name',
      {
        oauth: {
          clients: [
            { name: 'a', secret: 'b' },
            { name: 'a', secret: 'c' },
          ],
        },
      },
      { path: 'oauth.clients', message: 'duplicate name "a"' },
    ],
  ]
  for (const [what, input, problem] of invalid) {
    it(`rejects ${what}`, () => {
      expect(problemsOf(input)).to.deep.equal([problem])
    })
  }

  it('reports all problems together, each with its path', () => {
    const input = {
      colour: 'red',
      groupDomain: '_',
      listen: { port: 'x', host: 'y' },
      oauth: { clients: [{ public: 'maybe' }] },
      shutdownDelaySeconds: 301,
    }
    expect(problemsOf(input).map(problem => problem.path)).to.have.members([
      'colour',
      'groupDomain',
      'listen.host',
      'listen.port',
      'oauth.clients[0].name',
      'oauth.clients[0].public',
      'shutdownDelaySeconds',
    ])
  })

  it('does not repeat a secret in its message', () => {
    const clients = [
      { name: 'a', secret: 'hunter2' },
      { name: 'a', secret: ['hunter2'] },
    ]
    expect(() => parseConfig({ oauth: { clients } }))
      .to.throw(ConfigError)
      .and.not.match(/hunter2/)
  })
})
