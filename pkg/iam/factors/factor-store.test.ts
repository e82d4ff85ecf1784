import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import type { Call, KubeClient } from '../../kubeclient/client.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { createFactorRegistry, createFactorStore } from './factor-store.ts'
import { noFactors } from './factors.ts'

const jane = { name: 'jane', uid: 'u1' }
const totp = { secret: 'GEZDGNBVGY3TQOJQ', lastStep: 5 }
const path = '/api/v1/namespaces/kapis-system/secrets/kapis-factors-jane'

/** A kube-apiserver with one Secret. */
function createKube() {
  const calls: Call[] = []
  const state: { secret: KubeObject | undefined } = { secret: undefined }
  let version = 0
  const client: KubeClient = {
    async call(call) {
      calls.push(call)
      const { method = 'GET', body } = call
      const { secret } = state
      if (method !== 'POST' && secret === undefined) throw new Status(404, 'NotFound', '')
      if (method === 'GET') return secret
      if (method === 'POST' && secret !== undefined) throw new Status(409, 'AlreadyExists', '')
      const sent = Object(body)
      const { resourceVersion } = sent.preconditions ?? sent.metadata ?? {}
      if (
        secret !== undefined &&
        resourceVersion !== undefined &&
        resourceVersion !== secret.metadata.resourceVersion
      )
        throw new Status(409, 'Conflict', '')
      state.secret =
        method === 'DELETE'
          ? undefined
          : { ...sent, metadata: { ...sent.metadata, resourceVersion: `${++version}` } }
      return state.secret ?? { kind: 'Status' }
    },
    stream: () => Promise.reject(new Error('not used')),
    close: () => undefined,
  }
  const options = { client, groupDomain: 'kapis.io', namespace: 'kapis-system' }
  return { calls, state, store: createFactorStore(options), registry: createFactorRegistry(options) }
}

describe('createFactorStore', () => {
  it('stores factors in a Secret of the user, and deletes the Secret with the last factor', async () => {
    const { state, store } = createKube()
    expect(await store.read(jane)).to.deep.equal(noFactors)
    expect(await store.change(jane, known => ({ ...known, totp }))).to.equal(true)
    expect(await store.read(jane)).to.deep.equal({ ...noFactors, totp })
    expect(state.secret).to.deep.include({ type: 'iam.kapis.io/factors' })
    expect(state.secret?.metadata).to.deep.include({
      name: 'kapis-factors-jane',
      ownerReferences: [{ apiVersion: 'iam.kapis.io/v1alpha2', kind: 'User', name: 'jane', uid: 'u1' }],
    })
    expect(await store.change(jane, () => undefined)).to.equal(false)
    expect(await store.change(jane, () => noFactors)).to.equal(true)
    expect(state.secret).to.equal(undefined)
  })

  it('lets one of two replicas use a time step: the other decides again after a conflict', async () => {
    const { store } = createKube()
    await store.change(jane, () => ({ ...noFactors, totp }))
    const use = () =>
      store.change(jane, known =>
        known.totp === undefined || known.totp.lastStep >= 6
          ? undefined
          : { ...known, totp: { ...totp, lastStep: 6 } },
      )
    expect((await Promise.all([use(), use(), use()])).sort()).to.deep.equal([false, false, true])
  })

  it('ignores the factors of an earlier user with the name, and throws for a Secret that it cannot parse', async () => {
    const { state, store, registry } = createKube()
    await store.change({ ...jane, uid: 'u0' }, () => ({ ...noFactors, totp }))
    expect(await store.read(jane)).to.deep.equal(noFactors)
    expect(await registry.has(jane)).to.equal(false)
    await store.change(jane, () => ({ ...noFactors, totp }))
    expect(state.secret?.metadata.ownerReferences?.[0]?.uid).to.equal('u1')
    expect(await registry.has(jane)).to.equal(true)
    if (state.secret !== undefined) state.secret = { ...state.secret, data: {} }
    const error = await store.read(jane).catch(thrown => thrown)
    expect([error.code, error.message]).to.deep.equal([
      503,
      'the Secret kapis-system/kapis-factors-jane cannot be read',
    ])
  })

  it('lets kapis-apiserver read metadata only, and delete the Secret', async () => {
    const { calls, store, registry } = createKube()
    expect(await registry.has(jane)).to.equal(false)
    await store.change(jane, () => ({ ...noFactors, totp }))
    calls.length = 0
    expect(await registry.has(jane)).to.equal(true)
    await registry.remove(jane)
    await registry.remove(jane)
    expect(await registry.has(jane)).to.equal(false)
    expect(calls.filter(({ method }) => method === undefined).map(({ accept }) => accept)).to.deep.equal([
      ...Array.from({ length: 2 }, () => 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'),
    ])
    expect(calls.map(call => call.path)).to.deep.equal([path, path, path, path])
  })
})
