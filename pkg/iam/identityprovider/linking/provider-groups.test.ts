import { expect } from 'chai'
import { Status } from '../../../apierrors/status.ts'
import type { Call, KubeClient } from '../../../kubeclient/client.ts'
import { toUser } from '../../users/user.ts'
import { rejectionReason } from './login-error.ts'
import { createGroupWriter, readGroups } from './provider-groups.ts'

describe('readGroups', () => {
  const cases: readonly [string, readonly string[], string, readonly string[]][] = [
    ['sorts groups, and removes duplicates', ['b', 'a', 'b'], '', ['a', 'b']],
    [
      'does not take lookalikes for reserved names, which they are not',
      ['ѕystem:masters', 'ｓystem:masters'],
      '',
      ['ѕystem:masters', 'ｓystem:masters'],
    ],
    ['omits names with invisible characters', ['system\u200b:masters', '\u202ea', 'a\u0000'], '', []],
    ['adds the prefix', ['a'], 'ldap:', ['ldap:a']],
    ['omits groups of kube-apiserver', ['system:masters', 'a'], '', ['a']],
    ['omits groups that become a reserved name with the prefix', ['stem:masters'], 'sy', []],
    ['omits invalid names', ['', 'a\nb', 'x'.repeat(254)], '', []],
    ['omits names that header parsers would change', [' system:masters', '\u00a0a', 'b\t'], '', []],
    ['omits names that header parsers would change after the prefix', ['a ', ' a'], 'ldap:', ['ldap: a']],
  ]
  for (const [what, reported, prefix, expected] of cases) {
    it(what, () => {
      const { groups, ignored } = readGroups(reported, prefix)
      expect(groups).to.deep.equal(expected)
      expect([...groups, ...ignored].sort()).to.deep.equal(
        [...new Set(reported)].map(group => `${prefix}${group}`).sort(),
      )
    })
  }

  it('rejects more groups than can be stored, instead of dropping some', () => {
    const many = Array.from({ length: 257 }, (_, i) => `g${i}`)
    expect(readGroups(many.slice(1), '').groups).to.have.lengthOf(256)
    try {
      readGroups(many, '')
      expect.fail('it was taken')
    } catch (error) {
      expect(rejectionReason(error)).to.equal('too_many_groups')
      expect(error).to.have.property(
        'message',
        'the identity provider returned 257 groups; at most 256 are allowed',
      )
    }
  })
})

describe('createGroupWriter', () => {
  const nowMs = Date.parse('2026-05-01T12:00:00Z')
  const stored = (providerGroups: readonly object[], uid = 'u1') => ({
    metadata: { name: 'alice', uid, resourceVersion: '7', creationTimestamp: '' },
    spec: {},
    status: { providerGroups },
  })
  const entry = (provider: string, groups: readonly string[], observedAt = '2026-05-01T11:30:00Z') => ({
    provider,
    groups,
    observedAt,
  })

  /** Returns a client that serves `object`, and fails the first writes with conflicts. */
  function make(object: ReturnType<typeof stored>, conflicts = 0) {
    const patches: Call[] = []
    const client: KubeClient = {
      async call(call) {
        if (call.method !== 'PATCH') return object
        patches.push(call)
        if (patches.length <= conflicts) throw new Status(409, 'Conflict', 'changed')
        return object
      },
      stream: () => Promise.reject(new Error('not used')),
      close: () => undefined,
    }
    const user = toUser(object)
    return { write: createGroupWriter(client, 'kapis.io'), patches, user }
  }

  it('replaces only the groups of this provider', async () => {
    const { write, patches, user } = make(stored([entry('ldap', ['old']), entry('other', ['kept'])]))
    await write(user, 'ldap', ['new'], nowMs)
    expect(patches).to.deep.equal([
      {
        method: 'PATCH',
        path: '/apis/iam.kapis.io/v1alpha2/users/alice/status',
        contentType: 'application/merge-patch+json',
        body: {
          metadata: { resourceVersion: '7' },
          status: {
            providerGroups: [entry('other', ['kept']), entry('ldap', ['new'], '2026-05-01T12:00:00Z')],
          },
        },
      },
    ])
  })

  it('removes the groups of a provider that reports none', async () => {
    const { write, patches, user } = make(stored([entry('ldap', ['old'])]))
    await write(user, 'ldap', [], nowMs)
    expect(patches.map(({ body }) => body)).to.deep.equal([
      { metadata: { resourceVersion: '7' }, status: { providerGroups: [] } },
    ])
  })

  it('writes nothing when nothing has changed, until an hour has passed', async () => {
    const { write, patches, user } = make(stored([entry('ldap', ['a'])]))
    await write(user, 'ldap', ['a'], nowMs)
    await write(user, 'another', [], nowMs)
    expect(patches).to.deep.equal([])
    await write(user, 'ldap', ['a'], nowMs + 3_600_000)
    expect(patches).to.have.lengthOf(1)
  })

  it('retries after a conflict, a limited number of times', async () => {
    const some = make(stored([]), 2)
    await some.write(some.user, 'ldap', ['a'], nowMs)
    expect(some.patches).to.have.lengthOf(3)
    const many = make(stored([]), 99)
    const error = await many.write(many.user, 'ldap', ['a'], nowMs).catch(err => err)
    expect(error).to.include({ code: 503 })
  })

  it('writes nothing into a later user with the same name', async () => {
    const { write, patches, user } = make(stored([], 'u2'))
    const error = await write({ ...user, uid: 'u1' }, 'ldap', ['a'], nowMs).catch(err => err)
    expect(error).to.include({ code: 503 })
    expect(patches).to.deep.equal([])
  })
})
