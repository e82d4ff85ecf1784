import { expect } from 'chai'
import { thrownStatus } from '../../apierrors/fixtures.ts'
import type { Status } from '../../apierrors/status.ts'
import { parseUserDraft } from './user-draft.ts'

const hash = `$2b$10$${'a'.repeat(53)}`
const alice = { metadata: { name: 'alice' }, spec: { email: 'alice@kapis.io' } }

function rejection(body: unknown, name?: string): Status {
  return thrownStatus(() => parseUserDraft(body, 'kapis.io', name))
}

describe('parseUserDraft', () => {
  it('reads all fields that a caller may set', () => {
    const body = {
      apiVersion: 'iam.kapis.io/v1alpha2',
      kind: 'User',
      metadata: {
        name: 'alice',
        resourceVersion: '7',
        labels: { a: 'b' },
        annotations: { c: 'd' },
        uid: 'ignored',
      },
      spec: {
        email: 'alice@kapis.io',
        lang: 'en',
        description: 'x',
        displayName: 'Alice',
        groups: ['dev'],
        password: 'Abcdefg1',
      },
      status: { state: 'Disabled', lastLoginTime: 'ignored' },
    }
    expect(parseUserDraft(body, 'kapis.io')).to.deep.equal({
      name: 'alice',
      resourceVersion: '7',
      labels: { a: 'b' },
      annotations: { c: 'd' },
      spec: { email: 'alice@kapis.io', lang: 'en', description: 'x', displayName: 'Alice', groups: ['dev'] },
      password: 'Abcdefg1',
      state: 'Disabled',
    })
  })

  it('requires a name and an e-mail address, and takes the name from the path', () => {
    const draft = {
      name: 'alice',
      resourceVersion: '',
      labels: {},
      annotations: {},
      spec: { email: 'alice@kapis.io' },
    }
    const expected = { ...draft, password: undefined, state: undefined }
    expect(parseUserDraft(alice, 'kapis.io')).to.deep.equal(expected)
    expect(parseUserDraft({ spec: alice.spec }, 'kapis.io', 'alice')).to.deep.equal(expected)
  })

  it('accepts empty strings, which consoles send', () => {
    const empty = { lang: '', description: '', displayName: '', groups: [] }
    const { spec } = parseUserDraft({ ...alice, spec: { ...alice.spec, ...empty } }, 'kapis.io')
    expect(spec).to.deep.equal({ ...alice.spec, ...empty })
  })

  it('accepts a hash as the password', () => {
    expect(
      parseUserDraft({ ...alice, spec: { ...alice.spec, password: hash } }, 'kapis.io').password,
    ).to.equal(hash)
  })

  const spec = (changes: object) => ({ ...alice, spec: { ...alice.spec, ...changes } })
  const rule = 'must have 8 to 64 characters, including a lower-case letter, an upper-case letter and a digit'
  const invalid: readonly [string, unknown, string][] = [
    ['a missing name', { spec: alice.spec }, 'User.iam.kapis.io "" is invalid: metadata.name: is required'],
    [
      'a missing e-mail address',
      { metadata: alice.metadata },
      'User.iam.kapis.io "alice" is invalid: spec.email: is required',
    ],
    [
      'a number for an e-mail address',
      spec({ email: 7 }),
      'User.iam.kapis.io "alice" is invalid: spec.email: must be a string',
    ],
    [
      'kube-apiserver’s own groups',
      spec({ groups: ['dev', 'system:masters'] }),
      'User.iam.kapis.io "alice" is invalid: spec.groups[1]: must not begin with "system:", which is reserved for Kubernetes',
    ],
    [
      'a duplicate group',
      spec({ groups: ['a', 'a'] }),
      'User.iam.kapis.io "alice" is invalid: spec.groups: must not contain "a" twice',
    ],
    [
      'a string for groups',
      spec({ groups: 'a' }),
      'User.iam.kapis.io "alice" is invalid: spec.groups: must be a list of at most 256 groups',
    ],
    [
      'a weak password',
      spec({ password: 'secret' }),
      `User.iam.kapis.io "alice" is invalid: spec.password: ${rule}`,
    ],
    [
      'a hash that takes seconds to check',
      spec({ password: `$2b$31$${'a'.repeat(53)}` }),
      `User.iam.kapis.io "alice" is invalid: spec.password: must be a bcrypt hash with a cost from 4 to 15`,
    ],
    [
      'an unknown field',
      spec({ admin: true }),
      'User.iam.kapis.io "alice" is invalid: spec.admin: unknown; supported: email, lang, description, displayName, groups, password',
    ],
    [
      'a field of the spec outside it',
      { ...alice, email: 'alice@example.org' },
      'User.iam.kapis.io "alice" is invalid: email: unknown; supported: apiVersion, kind, metadata, spec, status',
    ],
    [
      'an unknown state',
      { ...alice, status: { state: 'active' } },
      'User.iam.kapis.io "alice" is invalid: status.state: must be one of Active, Disabled, AuthLimitExceeded',
    ],
    [
      'a name that is not a string',
      { ...alice, metadata: { name: { unknownMember: 1 } } },
      'User.iam.kapis.io "" is invalid: metadata.name: must be a string',
    ],
    [
      'a name with a pattern of String.replace',
      { ...alice, metadata: { name: "$&$'" } },
      `User.iam.kapis.io "$&$'" is invalid: metadata.name: must be a DNS-1123 subdomain of at most 63 characters: lower-case letters, digits, "-" and "."`,
    ],
    [
      'labels that are not strings',
      { ...alice, metadata: { name: 'alice', labels: { a: 1 } } },
      'User.iam.kapis.io "alice" is invalid: metadata.labels: must be a map of strings',
    ],
    [
      'several errors, all of them reported',
      spec({ email: 'x', displayName: 'x'.repeat(254) }),
      'User.iam.kapis.io "alice" is invalid: [spec.email: must be an e-mail address (RFC 5322) such as alice@example.org, ' +
        'spec.displayName: must have at most 253 characters]',
    ],
  ]
  for (const [what, body, message] of invalid) {
    it(`rejects ${what}`, () => {
      const status = rejection(body)
      expect(status).to.include({ code: 422, reason: 'Invalid', message })
    })
  }

  const bad: readonly [string, unknown, string | undefined, string][] = [
    ['a list', [], undefined, 'the body must be a User as a JSON object'],
    [
      'another kind',
      { ...alice, kind: 'Group' },
      undefined,
      'the body must be a User of iam.kapis.io/v1alpha2',
    ],
    ['another name than in the path', alice, 'bob', 'metadata.name must be the name in the path, "bob"'],
    ['a string for the spec', { ...alice, spec: 'x' }, undefined, 'spec must be a JSON object'],
  ]
  for (const [what, body, name, message] of bad) {
    it(`rejects ${what}`, () => {
      expect(rejection(body, name)).to.include({ code: 400, reason: 'BadRequest', message })
    })
  }

  it('never quotes a password', () => {
    expect(rejection(spec({ password: 'hunter2' })).message).to.not.include('hunter2')
  })
})
