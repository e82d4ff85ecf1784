import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import { createCa } from '../../certs/issue.ts'
import type { Problem } from '../../config/config-error.ts'
import { readProviderConfig } from './config.ts'

const { certPem } = createCa({ commonName: 'test', validityDays: 1 })
const ldap = { host: 'ldap.example.com:389', startTLS: true, userSearchBase: 'ou=people,dc=example,dc=com' }
const oidc = { issuer: 'https://id.example.com', clientID: 'kapis' }
const gitProvider = { clientID: 'kapis', clientSecret: 'hunter2' }

function read(document: unknown) {
  const problems: Problem[] = []
  const config = readProviderConfig(document, problems)
  return { config, problems }
}

function readLdap(changes: object) {
  const { config, problems } = read({
    name: 'ldap',
    type: 'LDAPIdentityProvider',
    provider: { ...ldap, ...changes },
  })
  return { ldap: config?.type === 'LDAPIdentityProvider' ? config.provider : undefined, problems }
}

describe('readProviderConfig', () => {
  it('fills in the defaults of an LDAP provider', () => {
    const { config, problems } = read({ name: 'ldap', type: 'LDAPIdentityProvider', provider: ldap })
    expect(problems).to.deep.equal([])
    expect(config).to.deep.equal({
      name: 'ldap',
      type: 'LDAPIdentityProvider',
      displayName: 'ldap',
      hidden: false,
      disabled: false,
      mappingMethod: 'auto',
      disableLoginConfirmation: true,
      usernamePrefix: '',
      groupsPrefix: '',
      groupsMaxAgeSeconds: 86_400,
      provider: {
        host: 'ldap.example.com',
        port: 389,
        security: 'starttls',
        trust: { ca: undefined, isVerified: true },
        timeoutMs: 15_000,
        managerDn: '',
        managerPassword: '',
        userSearchBase: 'ou=people,dc=example,dc=com',
        userSearchFilter: '',
        loginAttribute: 'uid',
        uidAttribute: 'uid',
        mailAttribute: 'mail',
        displayNameAttribute: 'displayName',
        groups: {
          searchBase: '',
          searchFilter: '',
          memberAttribute: 'member',
          memberValueAttribute: '',
          nameAttribute: 'cn',
          userMemberAttribute: '',
        },
      },
    })
  })

  it('fills in the defaults of an OIDC provider, and keeps the given scopes', () => {
    const { config } = read({
      name: 'corp',
      type: 'OIDCIdentityProvider',
      mappingMethod: 'lookup',
      provider: { ...oidc, scopes: ['groups', 'openid', 'offline_access'] },
    })
    expect(config).to.deep.include({ name: 'corp', mappingMethod: 'lookup' })
    expect(config?.provider).to.deep.equal({
      clientId: 'kapis',
      clientSecret: '',
      redirectUrl: '',
      scopes: ['openid', 'groups', 'offline_access'],
      endpoint: { authURL: '', tokenURL: '', userInfoURL: '', jwksURL: '', endSessionURL: '' },
      trust: { ca: undefined, isVerified: true },
      timeoutMs: 10_000,
      issuer: 'https://id.example.com',
      getUserInfo: false,
      emailKey: 'email',
      preferredUsernameKey: '',
      groupsKey: '',
      idTokenSignedResponseAlg: '',
    })
  })

  it('contains the endpoints of GitHub and GitLab, and the scopes for memberships', () => {
    const github = read({
      name: 'gh',
      type: 'GitHubIdentityProvider',
      provider: { ...gitProvider, organizations: ['acme'] },
    })
    expect(github.config?.provider).to.deep.include({
      memberOf: ['acme'],
      scopes: ['user:email', 'read:org'],
    })
    const gitlab = read({
      name: 'gl',
      type: 'GitlabIdentityProvider',
      provider: { ...gitProvider, endpoint: { userInfoURL: 'https://git.example.com/api/v4/user' } },
    })
    expect(gitlab.config?.provider).to.deep.include({
      memberOf: [],
      scopes: ['read_user'],
      endpoint: {
        authURL: 'https://gitlab.com/oauth/authorize',
        tokenURL: 'https://gitlab.com/oauth/token',
        userInfoURL: 'https://git.example.com/api/v4/user',
        jwksURL: '',
        endSessionURL: '',
      },
    })
  })

  const servers: readonly [object, string, number, string][] = [
    [{ host: 'a' }, 'a', 389, 'starttls'],
    [{ host: 'ldaps://a', startTLS: false }, 'a', 636, 'ldaps'],
    [{ host: 'ldap://a:1389/' }, 'a', 1389, 'starttls'],
    [{ host: '[::1]:1389' }, '::1', 1389, 'starttls'],
    [{ host: '10.0.0.1:636', startTLS: false, ldaps: true }, '10.0.0.1', 636, 'ldaps'],
    [{ host: 'a', startTLS: false }, 'a', 389, 'none'],
  ]
  for (const [changes, host, port, security] of servers) {
    it(`parses the server of ${JSON.stringify(changes)}`, () => {
      expect(readLdap(changes).ldap).to.include({ host, port, security })
    })
  }

  for (const rootCAData of [certPem, Buffer.from(certPem).toString('base64')]) {
    it(`accepts CAs as ${rootCAData.slice(0, 10)}…`, () => {
      expect(readLdap({ rootCAData }).ldap?.trust).to.deep.equal({ ca: certPem.trim(), isVerified: true })
    })
  }

  const broken: readonly [string, object, string, string][] = [
    ['no host', { host: undefined }, 'provider.host', 'is required'],
    [
      'a host with a path',
      { host: 'ldap://a/dc=b' },
      'provider.host',
      'must be host:port, or an ldaps:// or ldap:// URL',
    ],
    ['no port', { host: 'a:99999' }, 'provider.host', 'must have a port from 1 to 65535'],
    [
      'StartTLS on the port of LDAPS',
      { host: 'a:636' },
      'provider.startTLS',
      'cannot be used with port 636, the port of LDAPS: set ldaps: true instead',
    ],
    ['both', { ldaps: true }, 'provider.startTLS', 'must not be true with LDAPS, which uses TLS already'],
    ['no search base', { userSearchBase: '' }, 'provider.userSearchBase', 'is required'],
    [
      'a manager without a password',
      { managerDN: 'cn=m' },
      'provider.managerPassword',
      'is required with managerDN',
    ],
    [
      'an incomplete filter',
      { userSearchFilter: '(objectClass=person' },
      'provider.userSearchFilter',
      'must be a search filter such as (objectClass=person)',
    ],
    [
      'a filter instead of an attribute',
      { mailAttribute: 'uid=*)(' },
      'provider.mailAttribute',
      'must be the name of an attribute',
    ],
    [
      'a CA bundle that is not PEM',
      { rootCAData: 'aHVudGVyMg==' },
      'provider.rootCAData',
      'must be certificates in PEM',
    ],
    ['a missing CA file', { rootCA: '/nowhere.pem' }, 'provider.rootCA', 'cannot be read (ENOENT)'],
    [
      'a timeout that is not a duration',
      { readTimeout: 'long' },
      'provider.readTimeout',
      'must be a whole number from 100 to 25000, not "long"',
    ],
    [
      'an invalid boolean',
      { insecureSkipVerify: 'yes' },
      'provider.insecureSkipVerify',
      'must be true or false',
    ],
  ]
  for (const [what, changes, path, message] of broken) {
    it(`rejects an LDAP provider with ${what}`, () => {
      expect(readLdap(changes)).to.deep.equal({ ldap: undefined, problems: [{ path, message }] })
    })
  }

  const allTypes =
    'LDAPIdentityProvider, OIDCIdentityProvider, GitHubIdentityProvider, GitlabIdentityProvider'
  const refused: readonly [string, unknown, string, string][] = [
    ['an empty name', { name: '', type: 'OIDCIdentityProvider', provider: oidc }, 'name', 'is required'],
    ['a missing mapping', ['a'], '(document)', 'must be a mapping'],
    [
      'a list as the provider',
      { name: 'a', type: 'OIDCIdentityProvider', provider: [] },
      'provider',
      'must be a mapping',
    ],
    [
      'scopes that are not strings',
      { name: 'a', type: 'OIDCIdentityProvider', provider: { ...oidc, scopes: ['a', 7] } },
      'provider.scopes[1]',
      'must be a string',
    ],
    [
      'an endpoint without TLS',
      {
        name: 'a',
        type: 'OIDCIdentityProvider',
        provider: { ...oidc, endpoint: { tokenURL: 'http://id.example.com' } },
      },
      'provider.endpoint.tokenURL',
      'must begin with https://, unless insecureSkipVerify is true',
    ],
    ['a missing type', { name: 'a' }, 'type', `must be one of ${allTypes}`],
    ['an unknown type', { name: 'a', type: 'CASIdentityProvider' }, 'type', `must be one of ${allTypes}`],
    [
      'a name that a URL cannot contain',
      { name: 'a/b', type: 'OIDCIdentityProvider', provider: oidc },
      'name',
      'must be at most 45 letters, digits, -, _ and ., beginning and ending with a letter or digit, not "a/b"',
    ],
    [
      'an unknown mapping method',
      { name: 'a', type: 'OIDCIdentityProvider', mappingMethod: 'mixed', provider: oidc },
      'mappingMethod',
      'must be one of auto, lookup, manual',
    ],
    [
      'a prefix that is reserved for Kubernetes',
      { name: 'a', type: 'OIDCIdentityProvider', groupsPrefix: 'system:', provider: oidc },
      'groupsPrefix',
      'must not begin with "system:", which is reserved for Kubernetes',
    ],
    [
      'a prefix with blanks that header parsers strip',
      { name: 'a', type: 'OIDCIdentityProvider', groupsPrefix: ' ', provider: oidc },
      'groupsPrefix',
      'must not begin or end with white space',
    ],
    [
      'a missing issuer',
      { name: 'a', type: 'OIDCIdentityProvider', provider: { clientID: 'kapis' } },
      'provider.issuer',
      'is required',
    ],
    [
      'an issuer without TLS',
      { name: 'a', type: 'OIDCIdentityProvider', provider: { ...oidc, issuer: 'http://id.example.com' } },
      'provider.issuer',
      'must begin with https://, unless insecureSkipVerify is true',
    ],
    [
      'an unknown endpoint',
      { name: 'a', type: 'OIDCIdentityProvider', provider: { ...oidc, endpoint: { tokenUrl: 'https://a' } } },
      'provider.endpoint.tokenUrl',
      'unknown; supported: authURL, tokenURL, userInfoURL, jwksURL, endSessionURL',
    ],
    [
      'an HMAC algorithm for ID tokens',
      {
        name: 'a',
        type: 'OIDCIdentityProvider',
        provider: { ...oidc, idTokenSignedResponseAlg: 'HS256' },
      },
      'provider.idTokenSignedResponseAlg',
      'must be one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519',
    ],
    [
      'a missing client secret',
      { name: 'a', type: 'GitHubIdentityProvider', provider: { clientID: 'kapis' } },
      'provider.clientSecret',
      'is required',
    ],
  ]
  for (const [what, document, path, message] of refused) {
    it(`rejects ${what}`, () => {
      expect(read(document)).to.deep.equal({ config: undefined, problems: [{ path, message }] })
    })
  }

  it('quotes no secret in errors', () => {
    const { problems } = read({
      name: 'a',
      type: 'GitHubIdentityProvider',
      provider: { ...gitProvider, clientID: 7, secret: 'hunter3' },
    })
    expect(problems.map(({ path }) => path)).to.deep.equal(['provider.clientID', 'provider.secret'])
    expect(JSON.stringify(problems)).to.not.contain('hunter')
  })

  const manual = readFileSync(new URL('../../../docs/identity-providers.md', import.meta.url), 'utf8')
  const examples = [...manual.matchAll(/```yaml\n(name: [\s\S]*?)```/g)].map(([, text = '']) => text)
  it('accepts the documented examples of every type', () => {
    expect(examples).to.have.lengthOf(5)
    for (const text of examples) {
      const { problems } = read(parse(text))
      // The certificates of the manual are abbreviated, so rootCAData is invalid.
      expect(problems.filter(({ path }) => path !== 'provider.rootCAData')).to.deep.equal([])
    }
  })
})
