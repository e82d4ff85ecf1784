import { expect } from 'chai'
import { silent, until } from '../fixtures.ts'
import { toUser, type User } from '../users/user.ts'
import { type Session, toSession } from './session.ts'
import { createSessionReconciler } from './session-reconciler.ts'

const alice: User = {
  ...toUser({ metadata: { name: 'alice', uid: 'u1', resourceVersion: '1', creationTimestamp: '' } }),
  generation: 1,
  credential: 'c1',
}
const login: Session = {
  ...toSession({ metadata: { name: 's1', uid: '', resourceVersion: '1', creationTimestamp: '' } }),
  ...{
    user: 'alice',
    userUid: 'u1',
    userGeneration: 1,
    credential: 'c1',
    clientId: 'kapis',
    refreshId: 'r1',
  },
}

/**
 * Creates a reconciler with logins of alice and bob; `actual` returns alice from kube-apiserver.
 */
function keep(actual: () => User | undefined, conflicts = 0) {
  const sessions = new Map(
    [login, { ...login, sid: 's2' }, { ...login, sid: 's3', user: 'bob' }].map(session => [
      session.sid,
      session,
    ]),
  )
  let reads = 0
  const keeper = createSessionReconciler({
    async readUser() {
      reads++
      return actual()
    },
    sessions: {
      all: () => sessions.values(),
      read: async sid => sessions.get(sid),
      async update(session) {
        if (conflicts-- > 0) return false
        sessions.set(session.sid, session)
        return true
      },
    },
    logger: silent,
  })
  return { keeper, reads: () => reads, ended: () => [...sessions.values()].map(({ ended }) => ended) }
}

describe('createSessionReconciler', () => {
  const disabled: User = { ...alice, state: 'Disabled' }
  const changed: User = { ...alice, generation: 2, credential: 'c2' }
  const rows: readonly [string, User | undefined, string][] = [
    ['is disabled', disabled, 'user disabled'],
    ['has a new password', changed, 'password changed'],
    ['is deleted', undefined, 'user deleted'],
  ]
  for (const [what, after, why] of rows) {
    it(`ends only the sessions of a user who ${what}`, async () => {
      const { keeper, ended } = keep(() => after)
      keeper.changed('alice', alice, after)
      await until(() => ended()[1] !== '')
      expect(ended()).to.deep.equal([why, why, ''])
    })
  }

  it('sends no request for a change that ends nothing', async () => {
    const { keeper, reads } = keep(() => alice)
    keeper.changed('alice', alice, { ...alice, groups: ['ops'], generation: 2 })
    keeper.changed('alice', undefined, alice)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(reads()).to.equal(0)
  })

  it('trusts kube-apiserver when its own state is older', async () => {
    const { keeper, reads, ended } = keep(() => alice)
    keeper.changed('alice', alice, disabled)
    await until(() => reads() === 1)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(ended()).to.deep.equal(['', '', ''])
  })

  it('retries when a session is refreshed at the same moment', async () => {
    const { keeper, ended } = keep(() => disabled, 2)
    keeper.changed('alice', alice, disabled)
    await until(() => ended()[1] !== '')
    expect(ended()).to.deep.equal(['user disabled', 'user disabled', ''])
  })

  it('ends sessions of users who changed while it was not running', async () => {
    const { keeper, ended } = keep(() => changed)
    await keeper.checkAll(name => (name === 'alice' ? changed : { ...alice, name }))
    expect(ended()).to.deep.equal(['password changed', 'password changed', ''])
  })
})
