import { expect } from 'chai'
import type { RecordingPolicy } from '../config/sections/recordings.ts'
import { createPolicies } from './policy.ts'

type Given = { readonly [K in keyof RecordingPolicy]?: Readonly<RecordingPolicy[K]> }
const policy = ({ name = 'all', namespaces = [], users = [], groups = [] }: Given): RecordingPolicy => ({
  name,
  namespaces: [...namespaces],
  users: [...users],
  groups: [...groups],
})
const jane = { username: 'jane', groups: ['devs'] }
const admin = { username: 'root', groups: ['admins'] }

describe('createPolicies', () => {
  for (const [what, given, users, namespace, expected] of [
    ['every user everywhere', {}, [jane], 'shop', 'all'],
    ['a namespace by name', { namespaces: ['shop'] }, [jane], 'shop', 'all'],
    ['no other namespace', { namespaces: ['shop'] }, [jane], 'shop-2', undefined],
    ['a namespace by pattern', { namespaces: ['dev-*', 'prod-*'] }, [jane], 'prod-eu', 'all'],
    ['a user', { users: ['jane'] }, [jane], 'shop', 'all'],
    ['no other user', { users: ['jane'] }, [admin], 'shop', undefined],
    ['a user by group', { users: ['joe'], groups: ['devs'] }, [jane], 'shop', 'all'],
    ['the impersonating user', { groups: ['admins'] }, [jane, admin], 'shop', 'all'],
    ['the impersonated user', { users: ['jane'] }, [jane, admin], 'shop', 'all'],
    ['a user in one namespace only', { namespaces: ['a'], users: ['jane'] }, [jane], 'b', undefined],
  ] as const) {
    it(`matches ${what}`, () => {
      const policies = createPolicies(() => [policy(given)])
      expect(policies.find(users, namespace)).to.equal(expected)
    })
  }

  it('uses the first matching policy', () => {
    const policies = createPolicies(() => [
      policy({ name: 'admins', groups: ['admins'] }),
      policy({ name: 'shop', namespaces: ['shop'] }),
    ])
    expect([policies.find([admin], 'shop'), policies.find([jane], 'shop')]).to.deep.equal(['admins', 'shop'])
    expect(policies.find([jane], 'other')).to.equal(undefined)
  })

  it('reports whether any policy applies to a user, in any namespace', () => {
    const policies = createPolicies(() => [policy({ namespaces: ['shop'], users: ['jane'] })])
    expect([policies.concern([jane]), policies.concern([admin])]).to.deep.equal([true, false])
  })

  it('follows changes of the configuration', () => {
    let current: readonly RecordingPolicy[] = []
    const policies = createPolicies(() => current)
    expect(policies.find([jane], 'shop')).to.equal(undefined)
    current = [policy({})]
    expect(policies.find([jane], 'shop')).to.equal('all')
  })
})
