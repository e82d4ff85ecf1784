import { expect } from 'chai'
import { parseUserDraft } from '../../../../iam/users/user-draft.ts'
import { mergePatch } from './merge-patch.ts'
import { toOwnDraft } from './own-fields.ts'

const groupDomain = 'kapis.io'
const before = {
  apiVersion: 'iam.kapis.io/v1alpha2',
  kind: 'User',
  metadata: {
    name: 'jane',
    uid: 'u-1',
    resourceVersion: '7',
    creationTimestamp: '2031-01-01T00:00:00Z',
    labels: { team: 'blue' },
    annotations: { 'iam.kapis.io/last-password-change-time': '2031-01-01T00:00:00Z' },
  },
  spec: { email: 'jane@x.test', groups: ['dev'], displayName: 'Jane' },
  status: { state: 'Active' },
}
const ownEmail = 'iam.kapis.io/own-email'

function ownDraft(change: object) {
  return toOwnDraft(before, parseUserDraft(mergePatch(before, change), groupDomain, 'jane'), groupDomain)
}

describe('toOwnDraft', () => {
  const own: readonly [object, object, string | undefined][] = [
    [{}, {}, undefined],
    [{ spec: { lang: 'de' } }, { lang: 'de' }, undefined],
    [{ spec: { email: 'j@x.test', lang: 'en' } }, { email: 'j@x.test', lang: 'en' }, 'j@x.test'],
    [{ status: null }, {}, undefined],
  ]
  for (const [change, spec, mark] of own) {
    it(`allows ${JSON.stringify(change)}`, () => {
      const draft = ownDraft(change)
      expect(draft?.spec).to.deep.equal({ ...before.spec, ...spec })
      expect(draft?.annotations[ownEmail]).to.equal(mark)
      expect(draft?.state).to.equal(undefined)
    })
  }

  const others: readonly object[] = [
    { spec: { groups: ['dev', 'platform-admins'] } },
    { spec: { groups: null } },
    { spec: { displayName: 'Root' } },
    { spec: { description: 'x' } },
    { spec: { password: 'Another horse 2' } },
    { status: { state: 'Disabled' } },
    { metadata: { labels: { team: null } } },
    { metadata: { labels: { 'iam.kapis.io/origin-uid': '1' } } },
    { metadata: { annotations: { 'iam.kapis.io/identity-provider.github': '1' } } },
    { metadata: { annotations: { [ownEmail]: 'other@x.test' } } },
    { metadata: { annotations: { 'iam.kapis.io/last-password-change-time': null } } },
  ]
  for (const change of others)
    it(`rejects ${JSON.stringify(change)}`, () => expect(ownDraft(change)).to.equal(undefined))
})
