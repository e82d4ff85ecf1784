import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import {
  permissionsToChange,
  permissionsToCreate,
  permissionsToSetPassword,
  type UserPermissions,
} from './required-permissions.ts'
import { parseUserDraft } from './user-draft.ts'

const domain = 'kapis.io'
const hash = `$2b$10$${'a'.repeat(53)}`
const link = `iam.${domain}/identity-provider.corp`
const nothing: UserPermissions = { subresources: [], groups: [], user: 'never', anyGroup: false }
const metadata = { name: 'jane', uid: 'u1', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' }
const spec = { email: 'jane@example.org', groups: ['a', 'b'] }
const stored: KubeObject = {
  metadata: { ...metadata, annotations: { [link]: '42' } },
  spec: { ...spec, password: hash },
  status: {
    state: 'Active',
    providerGroups: [{ provider: 'corp', groups: ['c', 'b'], observedAt: '2026-01-01T00:00:00Z' }],
  },
}

const links = { [`iam.${domain}/identify-provider`]: 'forge', [`iam.${domain}/origin-uid`]: '9' }

describe('permissionsToCreate', () => {
  const linked = (more: object) => ({ metadata: { name: 'jane', ...more }, spec: { email: spec.email } })
  const rows: readonly [string, object, UserPermissions][] = [
    ['nothing but an address', { spec: { email: spec.email } }, { ...nothing, user: 'ifNamed' }],
    ['groups', { spec }, { ...nothing, groups: ['a', 'b'], user: 'ifNamed' }],
    [
      'a password',
      { spec: { email: spec.email, password: 'Correct horse 1' } },
      { ...nothing, subresources: ['password'], user: 'ifNamed' },
    ],
    [
      'a password as its hash, and a state',
      { spec: { email: spec.email, password: hash }, status: { state: 'Disabled' } },
      { ...nothing, subresources: ['password', 'status'], user: 'ifNamed' },
    ],
    [
      'the state that every new user has',
      { spec: { email: spec.email }, status: { state: 'Active' } },
      { ...nothing, user: 'ifNamed' },
    ],
    ['a link', linked({ annotations: { [link]: '42' } }), { ...nothing, user: 'always', anyGroup: true }],
    [
      'a link in the format of KubeSphere 3.4',
      linked({ labels: links }),
      { ...nothing, user: 'always', anyGroup: true },
    ],
    ['an annotation', linked({ annotations: { a: 'b' } }), { ...nothing, user: 'ifNamed' }],
  ]
  for (const [what, body, permissions] of rows)
    it(`returns the permissions for a user with ${what}`, () => {
      const draft = parseUserDraft({ metadata: { name: 'jane' }, ...body }, domain)
      expect(permissionsToCreate(draft, domain)).to.deep.equal(permissions)
    })
})

describe('permissionsToChange for an e-mail address that the user has set', () => {
  const ownEmail = `iam.${domain}/own-email`
  const own: KubeObject = {
    ...stored,
    apiVersion: `iam.${domain}/v1alpha2`,
    metadata: { ...metadata, annotations: { [ownEmail]: spec.email } },
  }
  for (const [annotations, user] of [
    [{ [ownEmail]: spec.email }, 'never'],
    [{}, 'always'],
    [{ [ownEmail]: 'other@example.org' }, 'always'],
  ] as const)
    it(`requires the permission to impersonate ${user} with ${JSON.stringify(annotations)}`, () => {
      const draft = parseUserDraft({ metadata: { name: 'jane', annotations }, spec }, domain)
      expect(permissionsToChange(own, draft, domain).user).to.equal(user)
    })
})

describe('permissionsToChange', () => {
  const taken: UserPermissions = { ...nothing, groups: ['a', 'b', 'c'], user: 'always' }
  const newlyLinked = { ...taken, anyGroup: true }
  const annotations = { [link]: '42' }
  const rows: readonly [string, object, UserPermissions][] = [
    ['nothing', {}, nothing],
    [
      'other annotation texts',
      { spec: { ...spec, lang: 'de', displayName: 'J', description: 'x' } },
      nothing,
    ],
    ['other labels', { metadata: { annotations, labels: { team: 'x' } } }, nothing],
    ['fewer groups', { spec: { ...spec, groups: [] } }, nothing],
    ['one more group', { spec: { ...spec, groups: ['b', 'd', 'a'] } }, { ...nothing, groups: ['d'] }],
    [
      'a group of an identity provider in the spec',
      { spec: { ...spec, groups: ['c'] } },
      { ...nothing, groups: ['c'] },
    ],
    ['the same state', { status: { state: 'Active' } }, nothing],
    ['another state', { status: { state: 'Disabled' } }, { ...nothing, subresources: ['status'] }],
    ['one link less', { metadata: { annotations: {} } }, nothing],
    ['another e-mail address', { spec: { ...spec, email: 'joe@example.org' } }, taken],
    ['another letter case of the e-mail address', { spec: { ...spec, email: 'Jane@example.org' } }, taken],
    ['a password', { spec: { ...spec, password: hash } }, { ...taken, subresources: ['password'] }],
    ['another link', { metadata: { annotations: { [link]: '43' } } }, newlyLinked],
    ['one more link', { metadata: { annotations: { ...annotations, [`${link}2`]: '1' } } }, newlyLinked],
    ['a link in the format of KubeSphere 3.4', { metadata: { annotations, labels: links } }, newlyLinked],
    [
      'a password, and its own groups',
      { spec: { ...spec, password: hash, groups: ['d'] } },
      { ...nothing, subresources: ['password'], groups: ['d', 'c', 'b'], user: 'always' },
    ],
  ]
  for (const [what, { metadata: given = {}, ...body }, permissions] of rows as readonly (readonly [
    string,
    { readonly metadata?: object },
    UserPermissions,
  ])[])
    it(`returns the permissions for ${what}`, () => {
      const sent = { spec, ...body, metadata: { name: 'jane', annotations, ...given } }
      const draft = parseUserDraft(sent, domain, 'jane')
      expect(permissionsToChange(stored, draft, domain)).to.deep.equal(permissions)
    })
})

describe('permissionsToSetPassword', () => {
  it('requires the permission to impersonate the user, with the groups of the spec and of identity providers', () => {
    const permissions = { ...nothing, groups: ['a', 'b', 'c'], user: 'always' }
    expect(permissionsToSetPassword(stored)).to.deep.equal(permissions)
  })
})
