import { expect } from 'chai'
import { toUserText } from './user-response.ts'

const key = 'iam.kapis.io/globalrole'

describe('toUserText', () => {
  const rows: readonly [object, string | undefined, object][] = [
    [
      { metadata: { name: 'a' }, spec: {} },
      'platform-admin',
      {
        metadata: { name: 'a', annotations: { [key]: 'platform-admin' } },
        spec: {},
        status: { state: 'Active' },
      },
    ],
    [
      { metadata: { annotations: { [key]: 'platform-admin', x: '1' } }, status: { state: 'Disabled' } },
      'platform-regular',
      { metadata: { annotations: { [key]: 'platform-regular', x: '1' } }, status: { state: 'Disabled' } },
    ],
    [
      { metadata: { annotations: { [key]: 'platform-admin' } }, status: { lastLoginTime: 'now' } },
      undefined,
      { metadata: { annotations: {} }, status: { lastLoginTime: 'now', state: 'Active' } },
    ],
  ]
  for (const [user, role, shown] of rows)
    it(`returns ${JSON.stringify(user)} with ${role}`, () =>
      expect(JSON.parse(toUserText(JSON.stringify(user), role, 'kapis.io'))).to.deep.equal(shown))
})
