import { expect } from 'chai'
import { parse, parseAllDocuments } from 'yaml'
import { parseConfig } from '../../../pkg/config/config.ts'
import { readProviderConfig } from '../../../pkg/iam/identityprovider/config.ts'
import { toConfiguration } from './configuration.ts'

const options = { groupDomain: 'example.org', namespace: 'platform' }
const defaults = {
  authenticateRateLimiterMaxTries: 5,
  authenticateRateLimiterDurationSeconds: 1800,
  multipleLogin: false,
}
const base = { groupDomain: 'example.org', kubernetes: { namespace: 'platform' } }

/** A file in the format of the KubeSphere installer, with every field that Kapis supports. */
const source = parse(`
authentication:
  authenticateRateLimiterMaxTries: "7"
  authenticateRateLimiterDuration: 10m0s
  maximumClockSkew: 5s
  loginHistoryRetentionPeriod: 168h
  loginHistoryMaximumEntries: 50
  multipleLogin: "false"
  jwtSecret: not-to-be-seen
  oauthOptions:
    accessTokenMaxAge: 1h
    accessTokenInactivityTimeout: 1h30m
    clients:
    - name: console
      secret: console-secret
      grantMethod: auto
      redirectURIs: ['*', 'https://console.example.org/callback']
      accessTokenMaxAge: 2h
    identityProviders:
    - name: corp
      type: LDAPIdentityProvider
      mappingMethod: mixed
      provider:
        host: ldap.example.org:389
        startTLS: true
        userSearchBase: dc=example,dc=org
        loginAttribute: uid
        mailAttribute: mail
logging:
  host: https://opensearch:9200
  basicAuth: true
  username: admin
  password: log-password
  indexPrefix: ks-logstash-log
monitoring:
  endpoint: http://prometheus:9090
surprise: 1
`)

describe('toConfiguration', () => {
  it('converts every setting that has a counterpart', () => {
    expect(parse(toConfiguration(source, options).file)).to.deep.equal({
      ...base,
      authentication: {
        authenticateRateLimiterMaxTries: 7,
        authenticateRateLimiterDurationSeconds: 600,
        loginHistoryRetentionPeriodSeconds: 604_800,
        loginHistoryMaximumEntries: 50,
        multipleLogin: false,
      },
      oauth: {
        clockSkewSeconds: 5,
        accessTokenSeconds: 3600,
        refreshTokenSeconds: 9000,
        clients: [
          {
            name: 'console',
            secret: 'console-secret',
            grantMethod: 'auto',
            redirectURIs: ['https://console.example.org/callback'],
            accessTokenMaxAgeSeconds: 7200,
            trusted: true,
          },
        ],
      },
      logs: {
        store: 'opensearch',
        opensearch: {
          url: 'https://opensearch:9200',
          username: 'admin',
          password: 'log-password',
          indexPrefix: 'ks-logstash-log',
        },
      },
    })
  })

  it('writes a file that Kapis accepts', () => {
    const { config, secrets } = parseConfig(parse(toConfiguration(source, options).file))
    expect(config.authentication.multipleLogin).to.equal(false)
    expect(secrets.clientSecrets.get('console')).to.equal('console-secret')
  })

  it('reports settings without a counterpart, with the reason and without a secret', () => {
    const { notes } = toConfiguration(source, options)
    expect(notes.map(({ path }) => path)).to.deep.equal([
      'authentication.jwtSecret',
      'authentication.oauthOptions.clients[0].redirectURIs',
      'authentication.oauthOptions.clients[0]',
      'authentication.oauthOptions.identityProviders[0].mappingMethod',
      'logging.basicAuth',
      'monitoring',
      'surprise',
    ])
    expect(JSON.stringify(notes)).to.not.match(/not-to-be-seen|console-secret|log-password/)
  })

  it('creates a Secret that Kapis accepts for each identity provider', () => {
    const [secret, ...more] = parseAllDocuments(toConfiguration(source, options).providers).map(d => d.toJS())
    expect(more).to.deep.equal([])
    expect(secret).to.deep.include({
      kind: 'Secret',
      type: 'config.example.org/identityprovider',
      metadata: {
        name: 'identity-provider-corp',
        namespace: 'platform',
        labels: { 'config.example.org/type': 'identityprovider' },
      },
    })
    const problems: { path: string; message: string }[] = []
    const config = readProviderConfig(parse(secret.stringData['configuration.yaml']), problems)
    expect([problems, config?.name, config?.mappingMethod]).to.deep.equal([[], 'corp', 'manual'])
  })

  const lifetimes: readonly [object, object][] = [
    [
      { accessTokenMaxAge: '1h', accessTokenInactivityTimeout: '30m' },
      { accessTokenSeconds: 3600, refreshTokenSeconds: 5400 },
    ],
    [{ accessTokenMaxAge: '2h', accessTokenInactivityTimeout: '2h' }, { accessTokenSeconds: 7200 }],
    [{ accessTokenMaxAge: '1h' }, { accessTokenSeconds: 3600, refreshTokenSeconds: 10_800 }],
    [{ accessTokenInactivityTimeout: '1h' }, { refreshTokenSeconds: 10_800 }],
    [
      { accessTokenMaxAge: '48h', accessTokenInactivityTimeout: '0' },
      { accessTokenSeconds: 86_400, refreshTokenSeconds: 172_800 },
    ],
    [
      { accessTokenMaxAge: '10s', accessTokenInactivityTimeout: '10s' },
      { accessTokenSeconds: 60, refreshTokenSeconds: 60 },
    ],
    [
      { accessTokenMaxAge: '24h', accessTokenInactivityTimeout: '100000h' },
      { accessTokenSeconds: 86_400, refreshTokenSeconds: 31_536_000 },
    ],
  ]
  for (const [oauthOptions, oauth] of lifetimes) {
    it(`creates a configuration that Kapis accepts from ${JSON.stringify(oauthOptions)}`, () => {
      const file = parse(toConfiguration({ authentication: { oauthOptions } }, options).file)
      expect(file.oauth).to.deep.equal(oauth)
      expect(() => parseConfig(file)).to.not.throw()
    })
  }

  const unfit: readonly [object, readonly string[]][] = [
    [{ host: 'opensearch:9200', username: 'a' }, ['logs.opensearch.url', 'logs.opensearch', 'logs']],
    [{ host: 'https://user:secret@opensearch' }, ['logs.opensearch.url', 'logs.opensearch', 'logs']],
  ]
  for (const [logging, paths] of unfit)
    it(`omits a section without what it requires, with a note: ${JSON.stringify(logging)}`, () => {
      const { file, notes } = toConfiguration({ logging }, options)
      expect(parse(file)).to.deep.equal(base)
      expect(notes.map(({ path }) => path)).to.deep.equal(paths)
      expect(JSON.stringify(notes)).to.not.include('secret')
    })

  it('omits options that do not fit a default of Kapis, with a note', () => {
    const authentication = { authenticateRateLimiterMaxTries: 0, loginHistoryMaximumEntries: 5 }
    const { file, notes } = toConfiguration({ authentication }, options)
    expect(() => parseConfig(parse(file))).to.not.throw()
    expect(notes.at(-1)).to.deep.equal({
      path: 'authentication',
      message: 'is omitted: Kapis rejects it without a valid authentication.authenticateRateLimiterMaxTries',
    })
  })

  it('omits values that Kapis rejects, with a note', () => {
    const { file, notes } = toConfiguration(
      { authentication: { authenticateRateLimiterMaxTries: -1, maximumClockSkew: '1h' } },
      options,
    )
    expect(() => parseConfig(parse(file))).to.not.throw()
    expect(notes.map(({ path }) => path)).to.have.members([
      'authentication.authenticateRateLimiterMaxTries',
      'oauth.clockSkewSeconds',
    ])
  })

  it('omits only the OAuth client that Kapis rejects, and names it', () => {
    const client = (name: string, more: object = {}) => ({ name, secret: `${name}-secret`, ...more })
    const clients = [
      client('first'),
      client('second', { grantMethod: 'never' }),
      client('third'),
      client('fourth', { grantMethod: 'x', scopeRestrictions: 3 }),
      client('fifth'),
    ]
    const { file, notes } = toConfiguration({ authentication: { oauthOptions: { clients } } }, options)
    const { config } = parseConfig(parse(file))
    expect(config.oauth.clients.map(({ name }) => name)).to.deep.equal(['first', 'third', 'fifth'])
    expect(notes.filter(({ message }) => message.endsWith('is omitted'))).to.deep.equal([
      { path: 'oauth.clients[3]', message: '"fourth" is omitted' },
      { path: 'oauth.clients[1]', message: '"second" is omitted' },
    ])
  })

  it('omits only an identity provider without a name', () => {
    const provider = {
      type: 'LDAPIdentityProvider',
      provider: {
        host: 'h:636',
        ldaps: true,
        userSearchBase: 'b',
        loginAttribute: 'uid',
        mailAttribute: 'mail',
      },
    }
    const identityProviders = [provider, { ...provider, name: 'corp', mappingMethod: 'lookup' }]
    const { providers, notes } = toConfiguration(
      { authentication: { oauthOptions: { identityProviders } } },
      options,
    )
    expect(parseAllDocuments(providers).map(each => each.toJS().metadata.name)).to.deep.equal([
      'identity-provider-corp',
    ])
    expect(notes).to.deep.equal([
      {
        path: 'authentication.oauthOptions.identityProviders[0].name',
        message: 'is required; the provider is omitted',
      },
    ])
  })

  it('reports an identity provider type that Kapis does not have, and creates no Secret for it', () => {
    const provider = { name: 'cas', type: 'CASIdentityProvider', mappingMethod: 'auto', provider: {} }
    const source = { authentication: { oauthOptions: { identityProviders: [provider] } } }
    const { providers, notes } = toConfiguration(source, options)
    expect(providers).to.equal('')
    expect(notes.map(({ path }) => path)).to.include('authentication.oauthOptions.identityProviders[0].type')
  })

  it('creates a Secret with another name for each provider, and reports what Kapis would reject', () => {
    const ldap = {
      host: 'h:636',
      ldaps: true,
      userSearchBase: 'b',
      loginAttribute: 'uid',
      mailAttribute: 'mail',
    }
    const named = (name: string, more: object = {}, provider: object = {}) => ({
      ...{ name, type: 'LDAPIdentityProvider', mappingMethod: 'lookup', ...more },
      provider: { ...ldap, ...provider },
    })
    const identityProviders = [
      named('a.b'),
      named('a_b', { mappingMethod: 'never' }),
      named('a_b', {}, { rootCA: '/no/such/file' }),
      { name: 'cas', type: 'CASIdentityProvider', provider: {} },
    ]
    const { providers, notes } = toConfiguration(
      { authentication: { oauthOptions: { identityProviders } } },
      options,
    )
    expect(parseAllDocuments(providers).map(each => each.toJS().metadata.name)).to.deep.equal([
      ...['identity-provider-a-b', 'identity-provider-a-b-2', 'identity-provider-a-b-3'],
    ])
    const at = 'authentication.oauthOptions.identityProviders'
    expect(notes.map(({ path, message }) => `${path}: ${message}`)).to.deep.equal([
      `${at}[1].mappingMethod: rejected by Kapis: must be one of auto, lookup, manual`,
      `${at}[2].name: another provider has this name; Kapis uses one of them`,
      `${at}[2].provider.rootCA: is a file of ks-apiserver: use rootCAData, or mount it in Kapis`,
      `${at}[3].type: Kapis has no such provider, "cas" is omitted; supported: LDAPIdentityProvider, OIDCIdentityProvider, GitHubIdentityProvider, GitlabIdentityProvider`,
    ])
  })

  it('ignores the case of names, as KubeSphere does', () => {
    const provider = { clientid: 'a', CLIENTSECRET: 'b', endpoint: { tokenurl: 'https://x.example.org/t' } }
    const source = {
      Authentication: {
        multiplelogin: true,
        oauthoptions: {
          Clients: [
            {
              name: 'web',
              Secret: 's',
              redirecturis: ['https://a.example.org/cb'],
              redirectURIs: ['https://b.example.org/cb'],
            },
          ],
          identityproviders: [
            { name: 'git', type: 'GitlabIdentityProvider', mappingmethod: 'lookup', provider },
          ],
        },
      },
      sonarQube: {},
      Multicluster: { enable: true },
    }
    const { file, providers, notes } = toConfiguration(source, options)
    const { config } = parseConfig(parse(file))
    expect(config.authentication.multipleLogin).to.equal(true)
    expect(config.multicluster.enabled).to.equal(true)
    expect(config.oauth.clients.map(({ name, redirectURIs }) => [name, redirectURIs])).to.deep.equal([
      ['web', ['https://b.example.org/cb']],
    ])
    const [secret] = parseAllDocuments(providers).map(document => document.toJS())
    expect(parse(secret.stringData['configuration.yaml'])).to.deep.equal({
      ...{ name: 'git', type: 'GitlabIdentityProvider', mappingMethod: 'lookup' },
      disableLoginConfirmation: false,
      provider: { clientID: 'a', clientSecret: 'b', endpoint: { tokenURL: 'https://x.example.org/t' } },
    })
    expect(notes.map(({ path }) => path)).to.include.members(['sonarqube', 'multicluster.enable'])
  })

  const wrong: readonly [object, string, string][] = [
    [
      { authentication: { authenticateRateLimiterMaxTries: 'many' } },
      'authentication.authenticateRateLimiterMaxTries',
      'is not a number; the default is used',
    ],
    [
      { authentication: { loginHistoryMaximumEntries: ' ' } },
      'authentication.loginHistoryMaximumEntries',
      'is not a number; the default is used',
    ],
    [
      { authentication: { loginHistoryMaximumEntries: null } },
      'authentication.loginHistoryMaximumEntries',
      'is not a number; the default is used',
    ],
    [
      { authentication: { maximumClockSkew: 'soon' } },
      'authentication.maximumClockSkew',
      'is not a duration; the default is used',
    ],
    [
      { authentication: { oauthOptions: { accessTokenMaxAge: 0 } } },
      'authentication.oauthOptions.accessTokenMaxAge',
      'Kapis has no unlimited lifetimes: oauth.accessTokenSeconds keeps its default',
    ],
    [
      { authentication: { multipleLogin: 'maybe' } },
      'authentication.multipleLogin',
      'is neither true nor false; the default is used',
    ],
    [
      { authentication: { oauthOptions: { issuer: 'kubesphere' } } },
      'authentication.oauthOptions.issuer',
      'set oauth.issuer to the https:// URL at which users reach Kapis',
    ],
    [
      { authentication: { oauthOptions: { clients: {} } } },
      'authentication.oauthOptions.clients',
      'is not a list',
    ],
    [{ authentication: [] }, 'authentication', 'is not a section'],
    [{ authorization: { mode: 'RBAC' } }, 'authorization', 'Kapis always uses Kubernetes RBAC'],
  ]
  for (const [document, path, message] of wrong) {
    it(`reports what happens to each part of ${JSON.stringify(document)}`, () => {
      const { file, notes } = toConfiguration({ ...document }, options)
      const { authentication = {}, ...rest } = parse(file)
      expect(rest).to.deep.equal(base)
      expect(defaults).to.deep.include(authentication)
      expect(notes).to.deep.equal([{ path, message }])
    })
  }

  it('keeps the defaults of KubeSphere that differ', () => {
    const { file } = toConfiguration({ authentication: { multipleLogin: true } }, options)
    expect(parse(file).authentication).to.deep.equal({ ...defaults, multipleLogin: true })
  })

  const redirects: readonly [unknown, readonly string[] | undefined, boolean][] = [
    [['https://a.example.org/cb'], ['https://a.example.org/cb'], false],
    [
      'https://a.example.org/cb,https://b.example.org/cb',
      ['https://a.example.org/cb', 'https://b.example.org/cb'],
      false,
    ],
    [['https://a.example.org/cb', 3], ['https://a.example.org/cb'], true],
    [{ a: 'https://a.example.org/cb' }, undefined, true],
    [null, undefined, true],
  ]
  for (const [redirectURIs, expected, isNoted] of redirects) {
    it(`reports every redirect URI that is lost of ${JSON.stringify(redirectURIs)}`, () => {
      const oauthOptions = { clients: [{ name: 'web', secret: 's', redirectURIs }] }
      const { file, notes } = toConfiguration({ authentication: { oauthOptions } }, options)
      expect(parse(file).oauth.clients?.[0].redirectURIs).to.deep.equal(expected)
      const path = 'authentication.oauthOptions.clients[0].redirectURIs'
      expect(notes.some(note => note.path === path)).to.equal(isNoted)
    })
  }

  it('serves members if multicluster is enabled, and reports the options of the tunnel', () => {
    const multicluster = {
      ...{ enable: 'true', clusterRole: 'host', hostClusterName: 'mine', agentImage: 'tower' },
      proxyPublishAddress: 'http://203.0.113.1:8080',
    }
    const { file, notes } = toConfiguration({ multicluster }, options)
    expect(parse(file)).to.deep.equal({ ...base, multicluster: { enabled: true } })
    expect(notes.map(({ path }) => path)).to.deep.equal(
      Object.keys(multicluster).map(key => `multicluster.${key}`),
    )
    const host = toConfiguration({ multicluster: { hostClusterName: 'host' } }, options)
    expect(host.notes).to.deep.equal([])
  })
})
