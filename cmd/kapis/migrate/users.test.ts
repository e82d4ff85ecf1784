import { expect } from 'chai'
import { Status } from '../../../pkg/apierrors/status.ts'
import type { Call, KubeClient } from '../../../pkg/kubeclient/client.ts'
import { createUsers, planUsers } from './users.ts'

const domains = { from: 'old.test', to: 'new.test' }
const passwordHash = `$2a$10$${'x'.repeat(53)}`
const metadata = { name: 'bob', uid: 'u', resourceVersion: '1', creationTimestamp: '' }
const spec = { email: 'bob@old.test', password: passwordHash }

/**
 * A kube-apiserver with one disabled user of KubeSphere, and optionally a user of the same name in
 * Kapis.
 */
function make(here: readonly object[], refuse: (call: Call) => number = () => 0) {
  const calls: Call[] = []
  const client: KubeClient = {
    async call(call) {
      const { method = 'GET', path } = call
      if (method !== 'GET') calls.push(call)
      const code = refuse(call)
      if (code !== 0) throw new Status(code, 'Forbidden', `refused ${method}`)
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
  it('is made, and disabled', async () => {
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

  it('is told of when he could not be disabled', async () => {
    const { migrate } = make([], ({ method }) => (method === 'PATCH' ? 403 : 0))
    expect(await migrate()).to.deep.equal([['refused', 'created, but failed to disable it: refused PATCH']])
  })

  it('ends the run when kube-apiserver fails meanwhile', async () => {
    const { migrate } = make([], ({ method }) => (method === 'PATCH' ? 503 : 0))
    const error = await migrate().catch(thrown => thrown)
    expect(error).to.include({ code: 503, message: 'refused PATCH' })
  })

  const rows: readonly [object, readonly string[]][] = [
    [{ state: 'Disabled' }, ['unchanged']],
    [{ state: 'Active' }, ['differs', 'was disabled, and is not here']],
    [{}, ['differs', 'was disabled, and is not here']],
  ]
  for (const [status, step] of rows) {
    it(`is ${step.join(': ')}, where he is here as ${JSON.stringify(status)}`, async () => {
      const { migrate, calls } = make([{ metadata, spec, status }])
      expect([await migrate(), calls]).to.deep.equal([[step], []])
    })
  }
})
