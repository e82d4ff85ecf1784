import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { ignoredGroups, toUser } from './user.ts'

const hash = `$2b$10$${'a'.repeat(53)}`
const metadata = { name: 'alice', uid: 'u1', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' }
const user = (spec: unknown, status?: unknown): KubeObject => ({ metadata, spec, status })

describe('toUser', () => {
  it('reads the fields that logins need', () => {
    const spec = { email: 'alice@kapis.io', groups: ['dev'], password: hash }
    const object = { ...user(spec, { state: 'Disabled' }), metadata: { ...metadata, generation: 3 } }
    expect(toUser(object)).to.deep.equal({
      name: 'alice',
      uid: 'u1',
      createdAt: '2026-01-01T00:00:00Z',
      resourceVersion: '7',
      generation: 3,
      email: 'alice@kapis.io',
      displayName: '',
      lang: '',
      groups: ['dev'],
      providerGroups: [],
      state: 'Disabled',
      stateSinceMs: 0,
      inlineHash: hash,
      credential: '64d4345af28b19e7',
      credentialNamespace: '',
      hasAppliedHash: false,
      mustChangePassword: false,
      isEmailVerified: true,
    })
  })

  it('reads whether an administrator has set the password', () => {
    const read = (annotation: string, value: string) => {
      const object = user({})
      const metadata = { ...object.metadata, annotations: { [annotation]: value } }
      return toUser({ ...object, apiVersion: 'iam.kapis.io/v1alpha2', metadata }).mustChangePassword
    }
    expect(read('iam.kapis.io/uninitialized', 'true')).to.equal(true)
    expect(read('iam.kapis.io/uninitialized', 'false')).to.equal(false)
    expect(read('iam.other.io/uninitialized', 'true')).to.equal(false)
  })

  it('treats a user without a state as active: the login immediately after the creation must work', () => {
    for (const status of [undefined, null, {}, { state: '' }, { state: 'Unheard-of' }])
      expect(toUser(user({}, status)).state).to.equal('Active')
  })

  it('never accepts a system: group', () => {
    const groups = ['dev', 'system:masters', 7, null, 'system:']
    expect(toUser(user({ groups })).groups).to.deep.equal(['dev'])
    expect(toUser(user({ groups: 'system:masters' })).groups).to.deep.equal([])
  })

  it('ignores stored groups that header parsers would change', () => {
    const groups = ['dev', ' system:masters', 'ops ', 'a\tb', '\u00a0system:masters']
    const providerGroups = [{ provider: 'p', groups: [' qa', 'qa'], observedAt: '' }]
    const object = user({ groups }, { providerGroups })
    expect(toUser(object).groups).to.deep.equal(['dev', 'qa'])
    expect(ignoredGroups(object)).to.deep.equal([...groups.slice(1), ' qa'])
  })

  for (const password of ['secret', '', '$2b$10$short', `$2b$31$${'a'.repeat(53)}`, `${hash}\n`, 7, null]) {
    it(`treats ${JSON.stringify(password)} as no password`, () => {
      expect(toUser(user({ password }))).to.include({ inlineHash: undefined, credential: '' })
    })
  }

  it('accepts an object without a spec', () => {
    expect(toUser({ metadata })).to.deep.include({ email: '', groups: [], state: 'Active' })
  })
})
