import { expect } from 'chai'
import { Status } from '../../../pkg/apierrors/status.ts'
import type { Call, KubeClient } from '../../../pkg/kubeclient/client.ts'
import { createUsers, planUsers } from './users.ts'

const domains = { from: 'old.test', to: 'new.test' }
const passwordHash = `$2a$10$${'x'.repeat(53)}`
const metadata = { name: 'bob', uid: 'u', resourceVersion: '1', creationTimestamp: '' }
const spec = { email: 'bob@old.test', password: passwordHash }

/**
 * A kube-apiserver with one disabled user of KubeSphere, and optionally a user with the same name
 * in Kapis.
 */
function make(here: readonly object[], refuse: (call: Call) => number = () => 0) {
  const calls: Call[] = []
  const client: KubeClient = {
    async call(call) {
      const { method = 'GET', path } = call
      if (method !== 'GET') calls.push(call)
      const code = refuse(call)
      if (code !== 0) throw new Status(code, 'Forbidden', `rejected ${method}`)
      if (path.includes('old.test') && path.includes('/users?'))
        return { metadata: {}, items: [{ metadata, spec, status: { state: 'Disabled' } }] }
      return { metadata: {}, items: path.includes('/users?') ? here : [] }
    },
    stream: () => Promise.reject(new Error('not used')),
    close: () => undefined,
  }
  const migrate = async () => {
    const plan = await planUsers(client, domains)
    const steps = await createUsers(client, plan, domains.to)
    return steps.map(({ action, remarks }) => [action, ...remarks])
  }
  return { migrate, calls }
}

describe('a user who was disabled before the migration', () => {
  it('is created and disabled', async () => {
    const { migrate, calls } = make([])
    expect(await migrate()).to.deep.equal([['create']])
    expect(calls.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
      'POST /apis/iam.new.test/v1alpha2/users',
      'PATCH /apis/iam.new.test/v1alpha2/users/bob/status',
    ])
    expect(calls[1]?.body).to.deep.equal({
      status: { state: 'Disabled', reason: 'disabled before the migration' },
    })
  })

  it('is reported if kapis could not disable the user', async () => {
    const { migrate } = make([], ({ method }) => (method === 'PATCH' ? 403 : 0))
    expect(await migrate()).to.deep.equal([['refused', 'created, but failed to disable it: rejected PATCH']])
  })

  it('is named when kube-apiserver fails to disable the user', async () => {
    const { migrate } = make([], ({ method }) => (method === 'PATCH' ? 503 : 0))
    expect(await migrate()).to.deep.equal([['refused', 'created, but failed to disable it: rejected PATCH']])
  })

  const rows: readonly [object, readonly string[]][] = [
    [{ state: 'Disabled' }, ['unchanged']],
    [{ state: 'Active' }, ['differs', 'was disabled, and does not exist here']],
    [{}, ['differs', 'was disabled, and does not exist here']],
  ]
  for (const [status, step] of rows) {
    it(`is ${step.join(': ')}, if the user already exists as ${JSON.stringify(status)}`, async () => {
      const { migrate, calls } = make([{ metadata, spec, status }])
      expect([await migrate(), calls]).to.deep.equal([[step], []])
    })
  }
})

describe('an object that cannot be migrated', () => {
  const user = (name: string) => ({
    metadata: { ...metadata, name },
    spec: { ...spec, email: `${name}@old.test` },
  })
  async function migrate(
    items: readonly unknown[],
    fails: (name: string) => number,
    bindings: readonly unknown[] = [],
  ) {
    const tried: string[] = []
    const client: KubeClient = {
      async call({ method = 'GET', path, body }) {
        if (method === 'POST') {
          const { name } = Object(body).metadata
          tried.push(name)
          if (fails(name) !== 0) throw new Status(fails(name), 'InternalError', `no ${name}`)
          return {}
        }
        const isOld = path.includes('old.test')
        if (isOld && path.includes('/groupbindings?')) return { metadata: {}, items: bindings }
        return { metadata: {}, items: isOld && path.includes('/users?') ? items : [] }
      },
      stream: () => Promise.reject(new Error('not used')),
      close: () => undefined,
    }
    const steps = await createUsers(client, await planUsers(client, domains), domains.to)
    return { steps: steps.map(({ name, action, remarks }) => [name, action, ...remarks]), tried }
  }
  const unreadable = 'cannot be read: it is not an object with name, uid and resourceVersion'

  it('is skipped and reported if it cannot be read', async () => {
    const items = [user('ann'), { metadata: { name: 'bad' } }, null, user('joe')]
    const { steps } = await migrate(items, () => 0, ['x'])
    expect(steps).to.deep.equal([
      ['ann', 'create'],
      ['joe', 'create'],
      ['bad', 'refused', unreadable],
      ['(without a name)', 'refused', unreadable],
      ['(without a name)', 'refused', `GroupBinding ${unreadable}`],
    ])
  })

  it('is skipped if kube-apiserver fails for this user only', async () => {
    const items = ['ann', 'bad', 'joe'].map(user)
    const { steps } = await migrate(items, name => (name === 'bad' ? 500 : 0))
    expect(steps).to.deep.equal([
      ['ann', 'create'],
      ['bad', 'refused', 'no bad'],
      ['joe', 'create'],
    ])
  })

  it('is every remaining object after several failures of kube-apiserver in a row', async () => {
    const { steps, tried } = await migrate(['a', 'b', 'c', 'd', 'e'].map(user), name =>
      name === 'a' ? 0 : 503,
    )
    expect(tried).to.deep.equal(['a', 'b', 'c', 'd'])
    expect(steps.at(-1)).to.deep.equal(['e', 'refused', 'not tried: kube-apiserver is not responding'])
  })
})

describe('a user in the group domain of Kapis', () => {
  it('is kept, with a remark on what Kapis does not migrate', async () => {
    const labels = { team: 'blue' }
    const items = [
      { metadata: { ...metadata, name: 'ann', labels }, spec },
      {
        metadata: { ...metadata, name: 'bea' },
        spec: { email: 'b@old.test', credential: '0123456789abcdef' },
      },
      { metadata: { ...metadata, name: 'cem' }, spec: { email: 'c@old.test', groups: ['system:masters'] } },
      { metadata: { ...metadata, name: 'dan' }, spec: { password: passwordHash } },
    ]
    const bindings = [
      { metadata, roleRef: { name: 'platform-admin' }, subjects: [{ kind: 'User', name: 'ann' }] },
    ]
    const calls: string[] = []
    const client: KubeClient = {
      async call({ method = 'GET', path }) {
        calls.push(method)
        const found = path.includes('/users?') ? items : path.includes('/globalrolebindings?') ? bindings : []
        return { metadata: {}, items: found }
      },
      stream: () => Promise.reject(new Error('not used')),
      close: () => undefined,
    }
    const steps = await planUsers(client, { from: 'old.test', to: 'old.test' })
    expect(steps.map(({ name, action, remarks }) => [name, action, ...remarks])).to.deep.equal([
      ['ann', 'kept', 'has the global role platform-admin: grant its permissions by RBAC'],
      ['bea', 'kept'],
      [
        'cem',
        'kept',
        'not in system:masters: reserved for Kubernetes, or not a valid group name',
        'has no password that Kapis can check: set one with kapis user set-password cem',
      ],
      ['dan', 'refused', 'has no e-mail address, which Kapis requires'],
    ])
    expect(calls).to.deep.equal(['GET', 'GET', 'GET'])
  })
})
