import { expect } from 'chai'
import { rejectedStatus } from '../../../apierrors/fixtures.ts'
import { Status } from '../../../apierrors/status.ts'
import type { Call, KubeClient } from '../../../kubeclient/client.ts'
import { silent } from '../../fixtures.ts'
import { toUser, type User } from '../../users/user.ts'
import { oidcConfig } from '../fixtures.ts'
import { createLinker } from './link-writer.ts'
import { rejectionReason } from './login-error.ts'

const corp = oidcConfig('corp')
const identity = { uid: 'person', username: 'zoe', email: '', displayName: '', groups: undefined }
const link = 'iam.kapis.io/identity-provider.corp'

const stored = (annotations: Readonly<Record<string, string>> = {}, uid = 'u1') => ({
  metadata: { name: 'alice', uid, resourceVersion: '7', creationTimestamp: '', annotations },
  spec: {},
})
const alice = toUser(stored())

/** @param conflicts how often the user is changed between reading and writing */
function make(object: ReturnType<typeof stored>, { conflicts = 0, code = 409, holders = [] as User[] } = {}) {
  const patches: Call[] = []
  const client: KubeClient = {
    async call(call) {
      if (call.method !== 'PATCH') return object
      patches.push(call)
      if (patches.length <= conflicts) throw new Status(code, 'Conflict', 'changed')
      return object
    },
    stream: () => Promise.reject(new Error('not used')),
    close: () => undefined,
  }
  const users = { findLinked: () => holders }
  const write = createLinker({ client, groupDomain: 'kapis.io', users, logger: silent })
  return { patches, run: () => write(corp, identity, alice) }
}

describe('createLinker', () => {
  it('writes the link into the user that was read, and not into a later user with the same name', async () => {
    const { patches, run } = make(stored())
    expect((await run()).uid).to.equal('u1')
    expect(patches).to.deep.equal([
      {
        method: 'PATCH',
        path: '/apis/iam.kapis.io/v1alpha2/users/alice',
        contentType: 'application/merge-patch+json',
        body: { metadata: { uid: 'u1', resourceVersion: '7', annotations: { [link]: 'person' } } },
      },
    ])
  })

  it('writes nothing for a user with the same link', async () => {
    const { patches, run } = make(stored({ [link]: 'person' }), { holders: [alice] })
    expect([(await run()).uid, patches]).to.deep.equal(['u1', []])
  })

  const foreign: readonly [string, ReturnType<typeof make>][] = [
    ['a user with a link to another account of the provider', make(stored({ [link]: 'another' }))],
    ['a user who was deleted and created again', make(stored({}, 'u2'))],
    ['an account that another user is linked to', make(stored(), { holders: [{ ...alice, uid: 'u9' }] })],
  ]
  for (const [what, { patches, run }] of foreign) {
    it(`does not link ${what}`, async () => {
      expect(rejectionReason(await rejectedStatus(run()))).to.equal('user_already_linked')
      expect(patches).to.deep.equal([])
    })
  }

  it('retries when the user changes in the meantime, a limited number of times', async () => {
    const once = make(stored(), { conflicts: 2 })
    await once.run()
    expect(once.patches).to.have.length(3)
    const always = make(stored(), { conflicts: 99 })
    expect(await rejectedStatus(always.run())).to.include({
      code: 503,
      message: 'the user is being updated concurrently',
    })
    expect(always.patches).to.have.length(5)
  })

  it('does not retry a rejected write', async () => {
    const { patches, run } = make(stored(), { conflicts: 1, code: 403 })
    expect(await rejectedStatus(run())).to.include({ code: 403 })
    expect(patches).to.have.length(1)
  })
})
