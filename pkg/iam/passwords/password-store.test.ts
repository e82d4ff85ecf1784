import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import type { Call, KubeClient } from '../../kubeclient/client.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { toCredential } from '../users/user.ts'
import { PasswordStore } from './password-store.ts'

const hash = (letter: string) => `$2b$10$${letter.repeat(53)}`
const encode = (text: string) => Buffer.from(text).toString('base64')
const secrets = '/api/v1/namespaces/kapis-system/secrets'
const changeTime = 'iam.kapis.io/last-password-change-time'
const jane = { name: 'jane', uid: 'u1', credential: '' }
const user = { ...jane, credentialNamespace: '', inlineHash: undefined }

const schemaPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/users.iam.kapis.io'
function schemaOf(members: readonly string[]): object {
  const spec = { type: 'object', properties: Object.fromEntries(members.map(name => [name, {}])) }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  return {
    spec: {
      versions: [
        { name: 'v1', schema: {} },
        { name: 'v1alpha2', schema },
      ],
    },
  }
}

function rejection(method: string): Status {
  return method === 'POST' ? new Status(409, 'AlreadyExists', '') : new Status(404, 'NotFound', '')
}

/** A kube-apiserver with the Secrets of one namespace. */
function memoryKube(before: (call: Call) => void = () => undefined) {
  type StoredSecret = {
    type?: string
    metadata: { name: string; uid?: string; resourceVersion: string; [member: string]: unknown }
    data: object
  }
  const stored = new Map<string, StoredSecret>()
  let version = 0
  const client: KubeClient = {
    async call(call) {
      before(call)
      const { method = 'GET', path, body } = call
      const object = Object(body)
      if (path === schemaPath) return schemaOf(['credential'])
      if (!path.startsWith(secrets)) throw new Status(404, 'NotFound', '')
      const name = method === 'POST' ? object.metadata.name : path.slice(secrets.length + 1)
      const known = stored.get(name)
      if (method === 'GET' && known !== undefined) return known
      if ((method === 'POST') === (known !== undefined)) throw rejection(method)
      const expected = method === 'DELETE' ? object.preconditions : object.metadata
      if (known !== undefined && expected.resourceVersion !== known.metadata.resourceVersion)
        throw new Status(409, 'Conflict', '')
      if (method === 'DELETE') {
        stored.delete(name)
        return { kind: 'Status' }
      }
      const resourceVersion = String(++version)
      const metadata = {
        ...object.metadata,
        uid: known?.metadata.uid ?? `secret-${version}`,
        resourceVersion,
      }
      stored.set(name, { ...object, metadata })
      return stored.get(name)
    },
    stream: () => Promise.reject(new Error('not used')),
    close: () => undefined,
  }
  const logger = createLogger({ program: 'test', level: 'error' })
  const make = () => new PasswordStore({ client, groupDomain: 'kapis.io', namespace: 'kapis-system', logger })
  return { stored, make, client }
}

describe('PasswordStore', () => {
  it('stores a hash in a Secret that is deleted with its user', async () => {
    const { stored, make } = memoryKube()
    const reference = await make().keep(jane, hash('a'))
    const credential = toCredential(hash('a'))
    expect(reference).to.deep.equal({ credential, credentialNamespace: 'kapis-system' })
    const secret = stored.get('kapis-user-jane')
    const { [changeTime]: time = '', ...annotations } = Object(secret?.metadata.annotations)
    expect([annotations, Math.abs(Date.now() - Date.parse(time)) < 10_000]).to.deep.equal([{}, true])
    expect(secret).to.deep.equal({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'iam.kapis.io/password',
      metadata: {
        name: 'kapis-user-jane',
        namespace: 'kapis-system',
        uid: 'secret-1',
        labels: { 'app.kubernetes.io/managed-by': 'kapis' },
        annotations: { [changeTime]: time },
        ownerReferences: [{ apiVersion: 'iam.kapis.io/v1alpha2', kind: 'User', name: 'jane', uid: 'u1' }],
        resourceVersion: '1',
      },
      data: { [credential]: encode(hash('a')) },
    })
  })

  it('accepts only the hash that the user references', async () => {
    const store = memoryKube().make()
    const { credential: first } = await store.keep(jane, hash('a'))
    const { credential: second } = await store.keep({ ...jane, credential: first }, hash('b'))
    const of = (credential: string, inlineHash?: string) => store.hashOf({ ...user, credential, inlineHash })
    // The user still refers to the first hash, so both are stored.
    expect([await of(first), await of(second)]).to.deep.equal([hash('a'), hash('b')])
    // Another user of the same name has no password.
    expect([await of(''), await of('0123456789abcdef')]).to.deep.equal([undefined, undefined])
    expect(await of(second, hash('z'))).to.equal(hash('z'))
  })

  it('reads what its watch has not received yet', async () => {
    const { make } = memoryKube()
    const reference = await make().keep(jane, hash('a'))
    expect(await make().hashOf({ ...user, ...reference })).to.equal(hash('a'))
  })

  it('reads the hashes of another installation, and returns to its own afterwards', async () => {
    const requests: string[] = []
    const { make } = memoryKube(({ path }) => void requests.push(path))
    const reference = await make().keep(jane, hash('a'))
    requests.length = 0
    const elsewhere = { ...user, ...reference, credentialNamespace: 'other' }
    expect(await make().hashOf(elsewhere)).to.equal(hash('a'))
    expect(requests).to.deep.equal([
      '/api/v1/namespaces/other/secrets/kapis-user-jane',
      `${secrets}/kapis-user-jane`,
    ])
  })

  it('rejects a hash that is too expensive, belongs to another user, or is in another Secret', async () => {
    const { stored, make } = memoryKube()
    const metadata = { name: 'kapis-user-jane', resourceVersion: '1' }
    const credential = toCredential(hash('a'))
    for (const text of [hash('a').replace('$10$', '$31$'), 'plain', hash('b')]) {
      stored.set('kapis-user-jane', {
        type: 'iam.kapis.io/password',
        metadata,
        data: { [credential]: encode(text) },
      })
      expect(await make().hashOf({ ...user, credential })).to.equal(undefined)
    }
    const data = { [credential]: encode(hash('a')) }
    stored.set('kapis-user-jane', { type: 'Opaque', metadata, data })
    expect(await make().hashOf({ ...user, credential })).to.equal(undefined)
  })

  it('retries when another replica was first, a limited number of times', async () => {
    let races = 2
    const kube = memoryKube(({ method = 'GET' }) => {
      if (method !== 'GET' && races-- > 0) throw new Status(409, 'Conflict', '')
    })
    const { credential } = await kube.make().keep(jane, hash('a'))
    expect(kube.stored.get('kapis-user-jane')?.data).to.have.all.keys(credential)
    races = 100
    let code = 0
    await kube
      .make()
      .keep(jane, hash('b'))
      .catch(error => {
        code = error.code
      })
    expect(code).to.equal(503)
  })

  it('preserves both when two replicas store a hash concurrently', async () => {
    const { make, stored } = memoryKube()
    const replicas = [make(), make(), make()]
    const kept = await Promise.all(['a', 'b', 'c'].map((letter, i) => replicas[i]?.keep(jane, hash(letter))))
    // Every replica finds each of the hashes, as the user may refer to any of them.
    for (const store of replicas)
      for (const [i, letter] of ['a', 'b', 'c'].entries())
        expect(await store.hashOf({ ...user, credential: kept[i]?.credential ?? '' })).to.equal(hash(letter))
    expect(Object.keys(stored.get('kapis-user-jane')?.data ?? {})).to.have.length(3)
  })

  it('keeps the hash that the user references, and deletes others once no user can reference them', async () => {
    const { make, stored } = memoryKube()
    const store = make()
    const { credential } = await store.keep(jane, hash('a'))
    await store.keep(jane, hash('b'))
    const keys = () => Object.keys(stored.get('kapis-user-jane')?.data ?? {})
    await store.tidy({ ...jane, credential })
    await store.tidy({ ...jane, credential: 'unknown' }, Date.now() + 180_000)
    expect(keys()).to.have.length(2)
    const late = make()
    await late.keep({ ...jane, credential }, hash('a'))
    const at = stored.get('kapis-user-jane')?.metadata.annotations
    // Another replica has stored a hash in the meantime.
    await store.tidy({ ...jane, credential }, Date.now() + 180_000)
    expect([keys().length, stored.get('kapis-user-jane')?.metadata.annotations]).to.deep.equal([2, at])
    await late.tidy({ ...jane, credential }, Date.now() + 180_000)
    expect(keys()).to.deep.equal([credential])
  })

  it('accepts the Secret of a restored backup for its user, and never that of an earlier user', async () => {
    const { make, stored } = memoryKube()
    const store = make()
    const uids = () => {
      const { metadata } = Object(stored.get('kapis-user-jane'))
      return [metadata.uid, metadata.ownerReferences?.[0]?.uid]
    }
    const { credential } = await store.keep({ ...jane, uid: '' }, hash('a'))
    expect(uids()).to.deep.equal(['secret-1', undefined])
    await store.tidy({ ...jane, credential })
    expect(uids()).to.deep.equal(['secret-1', 'u1'])
    // Garbage collection by uid must not delete the new Secret.
    await store.keep({ ...jane, uid: 'u2' }, hash('b'))
    expect(uids()).to.deep.equal(['secret-3', 'u2'])
    await store.tidy({ ...jane, uid: 'u3', credential: toCredential(hash('b')) })
    expect(uids()).to.deep.equal(['secret-4', 'u3'])
  })

  it('stores nothing while the CRD of users is outdated, until the manifests are applied', async () => {
    const { client } = memoryKube()
    let schema: object = schemaOf(['password'])
    const old: KubeClient = {
      ...client,
      call: async call => (call.path === schemaPath ? schema : client.call(call)),
    }
    const logger = createLogger({ program: 'test', level: 'error' })
    const store = new PasswordStore({
      client: old,
      groupDomain: 'kapis.io',
      namespace: 'kapis-system',
      logger,
    })
    const failure = await store.keep(jane, hash('a')).catch(error => error)
    expect([failure.code, failure.message]).to.deep.equal([
      503,
      'the CustomResourceDefinition users.iam.kapis.io has no spec.credential: apply the manifests of this release',
    ])
    schema = schemaOf(['password', 'credential'])
    expect(await store.keep(jane, hash('a'))).to.have.property('credential', toCredential(hash('a')))
  })
})
