import { expect } from 'chai'
import type { Call, KubeClient } from '../../kubeclient/client.ts'
import type { LoginRecord } from '../loginrecords/login-record.ts'
import { toUser } from '../users/user.ts'
import { createFailedLoginCounter } from './failed-login-counter.ts'

const nowMs = Math.floor(Date.now() / 1000) * 1000
const ago = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString()

const failure: LoginRecord = {
  user: undefined,
  loginRef: 'ref',
  type: 'Password',
  provider: '',
  source: { address: '192.0.2.1', userAgent: '' },
  success: false,
  reason: 'incorrect password',
}
const user = (status: object = {}) =>
  toUser({
    metadata: { name: 'alice', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    status,
  })

/**
 * @param stored version and age in seconds of each stored failure; the new failure has version 100
 */
function make(stored: readonly (readonly [string, number])[], provider = '') {
  const calls: Call[] = []
  const record = (resourceVersion: string, creationTimestamp: string) => ({
    metadata: { name: `r${resourceVersion}`, uid: resourceVersion, resourceVersion, creationTimestamp },
    spec: { provider },
  })
  const client: KubeClient = {
    async call(call) {
      calls.push(call)
      if (call.method === 'POST') return record('100', ago(0))
      return {
        metadata: { resourceVersion: '1' },
        items: stored.map(([version, age]) => record(version, ago(age))),
      }
    },
    stream: () => Promise.reject(new Error('not used')),
    close: () => undefined,
  }
  const ledger = createFailedLoginCounter({
    client,
    groupDomain: 'kapis.io',
    writer: 'w',
    windowSeconds: 600,
  })
  return { ledger, calls }
}

describe('createFailedLoginCounter', () => {
  it('stores a failure, and counts earlier ones for the name and the address', async () => {
    const { ledger, calls } = make([
      ['9', 20],
      ['99', 10],
      ['100', 0],
    ])
    expect(await ledger.record(failure, undefined)).to.deep.equal({ ofName: 3, ofAddress: 3 })
    const path = '/apis/iam.kapis.io/v1alpha2/loginrecords'
    expect(calls.map(call => [call.method, decodeURIComponent(call.path)])).to.deep.equal([
      ['POST', path],
      [undefined, `${path}?labelSelector=iam.kapis.io/login-ref=ref&fieldSelector=spec.success=false`],
      [
        undefined,
        `${path}?labelSelector=iam.kapis.io/source-network=192.0.2.1&fieldSelector=spec.success=false`,
      ],
    ])
    expect(Object(calls[0]?.body).metadata.labels).to.deep.equal({
      'iam.kapis.io/login-ref': 'ref',
      'iam.kapis.io/source-network': '192.0.2.1',
    })
  })

  it('ignores later failures, so that each failure of a burst gets its own number', async () => {
    const { ledger } = make([
      ['99', 0],
      ['100', 0],
      ['101', 0],
      ['1000', 0],
    ])
    expect(await ledger.record(failure, undefined)).to.deep.equal({ ofName: 2, ofAddress: 2 })
  })

  it('ignores failures that are older than the window', async () => {
    const { ledger } = make([
      ['1', 601],
      ['2', 500],
      ['100', 0],
    ])
    expect(await ledger.record(failure, undefined)).to.deep.equal({ ofName: 2, ofAddress: 2 })
  })

  it('counts an IPv6 network as one address, and does not reset it with a user', async () => {
    const { ledger, calls } = make([
      ['1', 90],
      ['2', 30],
      ['100', 0],
    ])
    const source = { address: '2001:db8::17', userAgent: '' }
    const unlocked = user({ state: 'Active', lastTransitionTime: ago(60) })
    expect(await ledger.record({ ...failure, source }, unlocked)).to.deep.equal({ ofName: 2, ofAddress: 3 })
    expect(await ledger.countFrom('2001:db8::18')).to.equal(3)
    const label = 'iam.kapis.io/source-network=2001-db8-0-0---64&'
    expect(calls.filter(({ path }) => decodeURIComponent(path).includes(label))).to.have.length(2)
  })

  it('does not count a failure at an identity provider for a local user', async () => {
    const { ledger } = make([['1', 30]], 'ldap')
    expect(await ledger.countOf(user())).to.equal(0)
    expect(await ledger.countFrom('192.0.2.1')).to.equal(1)
  })

  const forgiven: readonly [object, number][] = [
    [{ state: 'Active', lastTransitionTime: ago(60) }, 1],
    [{ state: 'Active' }, 2],
    // A lock does not reset the count.
    [{ state: 'AuthLimitExceeded', lastTransitionTime: ago(60) }, 2],
  ]
  for (const [status, count] of forgiven) {
    it(`counts ${count} for a user whose status is ${JSON.stringify(Object.keys(status))}, ${Object.values(status)[0]}`, async () => {
      const stored = [
        ['1', 90],
        ['2', 30],
      ] as const
      const { ledger, calls } = make(stored)
      expect(await ledger.countOf(user(status))).to.equal(count)
      expect(decodeURIComponent(calls[0]?.path ?? '')).to.include('iam.kapis.io/user-ref=alice')
    })
  }
})
