import { expect } from 'chai'
import type { Call } from '../../../kubeclient/client.ts'
import { silent } from '../../fixtures.ts'
import { toUser } from '../../users/user.ts'
import type { ProviderConfig } from '../config.ts'
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

  const config: ProviderConfig = {
    ...{ name: 'corp', displayName: 'Corp', hidden: false, disabled: false, mappingMethod: 'auto' },
    ...{ disableLoginConfirmation: true, usernamePrefix: '', groupsPrefix: '', groupsMaxAgeSeconds: 86_400 },
    type: 'GitHubIdentityProvider',
    provider: Object.create(null),
  }

  /** Registers an account in a cluster with a RoleBinding for the user `admin`. */
  function register(username: string, chosen?: string) {
    const created: Call[] = []
    const registrar = createRegistrar({
      client: {
        async call(call) {
          if (call.method !== 'POST')
            return {
              metadata: { resourceVersion: '1' },
              items: [
                {
                  metadata: { name: 'b', resourceVersion: '1' },
                  subjects: [{ kind: 'User', name: 'admin' }],
                },
              ],
            }
          created.push(call)
          return { metadata: { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '' }, spec: {} }
        },
        stream: () => Promise.reject(new Error('not used')),
        close: () => undefined,
      },
      groupDomain: 'kapis.io',
      users: { get: () => undefined, find: () => undefined, findLinked: () => [] },
      logger: silent,
    })
    const identity = { uid: '1', username, email: address, displayName: `${'x'.repeat(252)}👍`, groups: [] }
    return registrar.register(config, identity, chosen).then(
      () => Object(created[0]?.body),
      error => error.message,
    )
  }

  it('assigns a name with permissions to the account with that name, and to no similar one', async () => {
    for (const own of ['admin', 'Admin'])
      expect((await register(own)).metadata).to.deep.include({ name: 'admin' })
    for (const other of ['ａｄｍｉｎ', 'ádmin', 'admin\u200b', 'аadmin'])
      expect(await register(other), other).to.equal(
        'the user name admin is reserved; an administrator can link a user to it',
      )
    expect(await register('mia', 'admin')).to.equal('the user name admin is reserved; choose another one')
    expect((await register('Zoë')).metadata).to.deep.include({ name: 'zoe' })
  })

  it('names a name that cannot be a user name, without its control characters', async () => {
    const needs =
      'from the identity provider cannot be a user name: it needs a letter or digit, and at most 63 characters'
    expect(await register('')).to.equal(`the name (empty) ${needs}`)
    expect(await register('李\n\u001b')).to.equal(`the name ??? ${needs}`)
    expect(await register('a'.repeat(100_000))).to.equal(`the name ${'a'.repeat(64)} ${needs}`)
  })

  it('stores a long display name without half a character', async () => {
    expect((await register('mia')).spec.displayName).to.equal(`${'x'.repeat(252)}\ufffd`)
  })
})
