import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import type { Call, KubeClient } from '../../kubeclient/client.ts'
import { silent, until } from '../fixtures.ts'
import { toUser } from '../users/user.ts'
import { createLockoutReconciler } from './lockout-reconciler.ts'

const object = (status: object, resourceVersion = '1') => ({
  metadata: { name: 'alice', uid: 'u1', resourceVersion, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { email: 'alice@kapis.io' },
  status,
})

describe('createLockoutReconciler', () => {
  /** A kube-apiserver with one user, which rejects the first writes with a conflict. */
  function make(status: object, conflicts = 0) {
    const written: unknown[] = []
    let rejections = conflicts
    const client: KubeClient = {
      async call({ method = 'GET', body }: Call) {
        if (method === 'GET') return object(status, String(conflicts - rejections + 1))
        if (rejections-- > 0) throw new Status(409, 'Conflict', 'modified')
        written.push(body)
        return object(status)
      },
      stream: () => Promise.reject(new Error('no watch here')),
      close: () => undefined,
    }
    const options = { client, groupDomain: 'kapis.io', maxTries: 10, durationSeconds: 600, logger: silent }
    return { keeper: createLockoutReconciler(options), written, user: toUser(object(status)) }
  }
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()

  it('stores a lock, even if a login changes the user in the meantime', async () => {
    const { keeper, written, user } = make({ state: 'Active' }, 2)
    keeper.lock(user)
    await until(() => written.length > 0)
    const [body] = written.map(Object)
    expect(body.metadata).to.deep.equal({ uid: 'u1', resourceVersion: '3' })
    expect(body.status).to.include({
      state: 'AuthLimitExceeded',
      reason: 'Failed login attempts exceed 10 in last 600s',
    })
  })

  it('does not replace the state of a disabled user by a temporary lock', async () => {
    const { keeper, written, user } = make({ state: 'Disabled' })
    keeper.lock(user)
    await new Promise(resolve => setTimeout(resolve, 20))
    expect(written).to.deep.equal([])
  })

  // Created when a test runs: the whole suite takes longer than a lock.
  const rows: readonly [string, () => object, string | undefined][] = [
    ['ends an expired lock', () => ({ state: 'AuthLimitExceeded', lastTransitionTime: ago(601) }), 'Active'],
    [
      'keeps a lock that has not expired',
      () => ({ state: 'AuthLimitExceeded', lastTransitionTime: ago(500) }),
      undefined,
    ],
    [
      'adds the time to a lock that was set by hand',
      () => ({ state: 'AuthLimitExceeded' }),
      'AuthLimitExceeded',
    ],
    [
      'does not write users who are not locked',
      () => ({ state: 'Disabled', lastTransitionTime: ago(9_999) }),
      undefined,
    ],
  ]
  for (const [what, status, state] of rows) {
    it(what, async () => {
      const { keeper, written, user } = make(status())
      await keeper.release([user])
      expect(written.map(body => Object(body).status.state)).to.deep.equal(state === undefined ? [] : [state])
    })
  }

  it('accepts what another replica has written first', async () => {
    const { keeper, written, user } = make({ state: 'AuthLimitExceeded', lastTransitionTime: ago(601) }, 1)
    await keeper.release([user])
    expect(written).to.deep.equal([])
  })
})
