import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { createScriptedCollection, silent, until } from '../fixtures.ts'
import { toAccessRequest } from './access-request.ts'
import { AccessRequestStore, noAccess } from './access-request-store.ts'

const made = '2031-05-06T07:08:09Z'
const madeMs = Date.parse(made)

function request(spec: object, status: object = {}): KubeObject {
  const metadata = { name: 'a', uid: 'r', resourceVersion: '1', creationTimestamp: made }
  const asked = { user: 'jane', userUid: 'u-1', group: 'ops', seconds: 60, reason: 'on call', ...spec }
  return { metadata, spec: asked, status }
}

describe('toAccessRequest', () => {
  it('starts the access when the request was created', () => {
    expect(toAccessRequest(request({}, { state: 'Approved', by: 'joe' }))).to.deep.equal({
      ...{ name: 'a', uid: 'r', user: 'jane', userUid: 'u-1', group: 'ops', isApproved: true },
      expiresAtMs: madeMs + 60_000,
    })
  })

  const table: readonly [what: string, object: KubeObject, isApproved: boolean, seconds: number][] = [
    ['a request without a decision', request({}), false, 60],
    ['a denied request', request({}, { state: 'Denied' }), false, 60],
    ['a revoked request', request({}, { state: 'Revoked' }), false, 60],
    [
      'a request for a Kubernetes group',
      request({ group: 'system:masters' }, { state: 'Approved' }),
      false,
      60,
    ],
    ['a request for an empty group', request({ group: '' }, { state: 'Approved' }), false, 60],
    [
      'a request for a group with a trailing blank',
      request({ group: 'ops ' }, { state: 'Approved' }),
      false,
      60,
    ],
    [
      'a request for a group with an invisible character',
      request({ group: 'op\u200bs' }, { state: 'Approved' }),
      false,
      60,
    ],
    ['a request for a year', request({ seconds: 31_536_000 }, { state: 'Approved' }), true, 43_200],
    ['a request without a duration', request({ seconds: '60' }, { state: 'Approved' }), true, 0],
  ]
  for (const [what, object, isApproved, seconds] of table)
    it(`${isApproved ? 'accepts' : 'ignores'} ${what}`, () => {
      const read = toAccessRequest(object)
      expect(read.isApproved).to.equal(isApproved)
      expect(read.expiresAtMs).to.equal(madeMs + seconds * 1000)
    })
})

describe('AccessRequestStore', () => {
  let store: AccessRequestStore
  afterEach(() => store.stop())

  const jane = { name: 'jane', uid: 'u-1' }
  const approved = { state: 'Approved', by: 'joe' }

  async function follow(initial: readonly KubeObject[]) {
    const collection = createScriptedCollection(initial)
    store = new AccessRequestStore({ client: collection.client, groupDomain: 'kapis.io', logger: silent })
    await store.start()
    return collection
  }
  const given = (nowMs: number, user = jane) => store.accessOf(user, nowMs)

  it('grants an approved group until its expiry, and returns the request', async () => {
    await follow([request({}, approved)])
    const first = given(madeMs + 1_000)
    expect(first).to.deep.equal({ groups: ['ops'], extra: { 'iam.kapis.io/access-request': ['a'] } })
    expect(given(madeMs + 59_999)).to.equal(first)
    expect(given(madeMs + 60_000)).to.equal(noAccess)
    expect(given(madeMs + 60_001)).to.equal(noAccess)
  })

  it('grants nothing to another user with the same name', async () => {
    await follow([request({}, approved)])
    expect(given(madeMs, { name: 'jane', uid: 'u-2' })).to.equal(noAccess)
    expect(given(madeMs, { name: 'joe', uid: 'u-1' })).to.equal(noAccess)
    expect(given(madeMs).groups).to.deep.equal(['ops'])
  })

  it('follows approvals, revocations and deletions', async () => {
    const { emit } = await follow([request({})])
    expect(given(madeMs)).to.equal(noAccess)
    const changed = (status: object): KubeObject => {
      const object = request({}, status)
      return { ...object, metadata: { ...object.metadata, resourceVersion: '2' } }
    }
    emit({ type: 'MODIFIED', object: changed(approved) })
    await until(() => given(madeMs) !== noAccess)
    emit({ type: 'MODIFIED', object: changed({ state: 'Revoked', by: 'joe' }) })
    await until(() => given(madeMs) === noAccess)
    emit({ type: 'MODIFIED', object: changed(approved) })
    await until(() => given(madeMs) !== noAccess)
    emit({ type: 'DELETED', object: changed(approved) })
    await until(() => given(madeMs) === noAccess)
  })

  it('deletes requests that ended more than a week ago', async () => {
    const { deleted, deleteOptions } = await follow([request({})])
    await store.collect(madeMs + 60_000)
    expect(deleted).to.deep.equal([])
    await store.collect(madeMs + 60_000 + 7 * 86_400_000)
    expect(deleted).to.deep.equal(['/apis/iam.kapis.io/v1alpha2/accessrequests/a'])
    // The uid keeps a new request of the user with the same name.
    expect(deleteOptions).to.deep.equal([
      { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'r' } },
    ])
  })
})
