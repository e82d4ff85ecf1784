import { expect } from 'chai'
import { readProviderConfig } from '../../../pkg/iam/identityprovider/config.ts'
import { provider } from './identity-provider.ts'
import { createTranslation } from './translate-keys.ts'

const ldap = { host: 'ldap.example.org:636', userSearchBase: 'dc=example,dc=org', loginAttribute: 'uid' }
const app = { clientID: 'kapis', clientSecret: 'secret' }

/** Returns the document in the Secret, and the notes by the last name of their paths. */
function convert(item: Readonly<Record<string, unknown>>) {
  const to = createTranslation()
  provider({ name: 'corp', ...item }, 'at', to)
  return {
    document: to.providers[0],
    notes: to.notes.map(({ path, message }) => [path.split('.').at(-1), message]),
  }
}

describe('provider', () => {
  const confirmation =
    "false: users confirm their first login on a page of Kapis, which the login form of KubeSphere's console lacks"
  const registrations: readonly [
    given: object,
    expected: object,
    notes: readonly (readonly [string, string])[],
  ][] = [
    [
      {},
      { mappingMethod: 'lookup', disableLoginConfirmation: false },
      [['mappingMethod', 'is missing and became lookup: KubeSphere creates no users without it']],
    ],
    [
      { mappingMethod: 'auto' },
      { mappingMethod: 'auto', disableLoginConfirmation: false },
      [['disableLoginConfirmation', confirmation]],
    ],
    [
      { mappingMethod: 'auto', disableLoginConfirmation: true },
      { mappingMethod: 'auto', disableLoginConfirmation: true },
      [],
    ],
    [{ mappingMethod: 'lookup' }, { mappingMethod: 'lookup', disableLoginConfirmation: false }, []],
    [
      { mappingMethod: 'mixed', disableLoginConfirmation: true },
      { mappingMethod: 'manual', disableLoginConfirmation: true },
      [['mappingMethod', 'mixed became manual: users link their accounts themselves']],
    ],
  ]
  for (const [given, expected, notes] of registrations) {
    it(`creates users as KubeSphere does with ${JSON.stringify(given)}`, () => {
      const converted = convert({ type: 'LDAPIdentityProvider', provider: ldap, ...given })
      expect(converted.document).to.deep.include(expected)
      expect(converted.notes).to.deep.equal(notes)
      expect(readProviderConfig(converted.document, [])).to.deep.include(expected)
    })
  }

  it('uses LDAPS for startTLS, which means that in KubeSphere', () => {
    const item = { type: 'LDAPIdentityProvider', mappingMethod: 'lookup' }
    const on = convert({ ...item, provider: { ...ldap, startTLS: true } }).document
    expect(on?.provider).to.deep.equal({ ...ldap, ldaps: true })
    expect(readProviderConfig(on, [])?.provider).to.include({ port: 636, security: 'ldaps' })
    const off = convert({ ...item, provider: { ...ldap, startTLS: false } }).document
    expect(readProviderConfig(off, [])?.provider).to.include({ port: 636, security: 'none' })
  })

  it('grants no permissions by groups of a directory that KubeSphere ignores', () => {
    const ignored = {
      ...{ groupSearchBase: 'ou=groups', groupSearchFilter: '(cn=*)' },
      ...{ userMemberAttribute: 'memberOf', groupMemberAttribute: 'member' },
    }
    const item = { type: 'LDAPIdentityProvider', mappingMethod: 'lookup', provider: { ...ldap, ...ignored } }
    const { document, notes } = convert(item)
    expect(document?.provider).to.deep.equal(ldap)
    const message = 'is omitted: KubeSphere ignores it, but Kapis would assign groups from it'
    expect(notes).to.deep.equal(Object.keys(ignored).map(key => [key, message]))
  })

  it('reports that accounts of GitHub have other identifiers', () => {
    const item = { mappingMethod: 'auto', disableLoginConfirmation: true, provider: app }
    expect(convert({ ...item, type: 'GitHubIdentityProvider' }).notes).to.deep.equal([
      [
        'type',
        'KubeSphere links users to login names, Kapis to account numbers: annotate each user (docs/migration.md)',
      ],
    ])
    expect(convert({ ...item, type: 'GitlabIdentityProvider' }).notes).to.deep.equal([])
  })

  for (const type of ['CASIdentityProvider', 'AliyunIDaaSProvider', 'toString', 1, undefined]) {
    it(`reports a provider of type ${String(type)}, which Kapis does not have`, () => {
      const { document, notes } = convert({ type, provider: {} })
      expect(document).to.equal(undefined)
      expect(notes.map(([key]) => key)).to.deep.equal(['type'])
    })
  }

  for (const settings of [undefined, null, 'text', []]) {
    it(`reports settings that are ${JSON.stringify(settings)}`, () => {
      const { document, notes } = convert({
        type: 'LDAPIdentityProvider',
        mappingMethod: 'lookup',
        provider: settings,
      })
      expect(document?.name).to.equal('corp')
      expect(notes.map(([, message]) => message).join()).to.include('rejected by Kapis')
    })
  }
})
