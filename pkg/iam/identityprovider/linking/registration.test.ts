import { expect } from 'chai'
import { silent } from '../../fixtures.ts'
import { toUser } from '../../users/user.ts'
import { createRegistrar } from './registration.ts'

const address = 'mia@x.test'
const holder = (annotations: Readonly<Record<string, string>>) =>
  toUser({
    apiVersion: 'iam.kapis.io/v1alpha2',
    metadata: { name: 'eve', uid: 'u', resourceVersion: '1', creationTimestamp: '', annotations },
    spec: { email: address },
  })

describe('createRegistrar', () => {
  for (const [title, annotations, isPossible] of [
    ['rejects an account whose e-mail address an administrator has given to another user', {}, false],
    [
      'accepts an account whose e-mail address another user only claims',
      { 'iam.kapis.io/own-email': address },
      true,
    ],
  ] as const)
    it(title, () => {
      const registrar = createRegistrar({
        client: {
          call: () => Promise.reject(new Error('not used')),
          stream: () => Promise.reject(new Error('not used')),
          close: () => undefined,
        },
        groupDomain: 'kapis.io',
        users: { get: () => undefined, find: () => holder(annotations), findLinked: () => [] },
        logger: silent,
      })
      const identity = { uid: '1', username: 'mia', email: address, displayName: '', groups: [] }
      if (isPossible) registrar.assertPossible(identity)
      else expect(() => registrar.assertPossible(identity)).to.throw('belongs to another user')
    })
})
