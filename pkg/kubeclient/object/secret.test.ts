import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { createSecretStore } from '../../certs/fixtures.ts'
import { readSecret, secretData, secretPath, writeSecret } from './secret.ts'

const name = { namespace: 'ns', name: 'a' }

describe('writeSecret', () => {
  it('creates a Secret, and replaces it at the version that was read', async () => {
    const { client, get } = createSecretStore()
    expect(await readSecret(client, name)).to.equal(undefined)
    const made = await writeSecret(client, name, { data: { text: 'ä', bytes: Buffer.from([0, 255]) } })
    expect(get('a')).to.deep.include({
      apiVersion: 'v1',
      kind: 'Secret',
      data: { text: 'w6Q=', bytes: 'AP8=' },
    })
    expect(made?.metadata).to.deep.include({ labels: { 'app.kubernetes.io/managed-by': 'kapis' } })
    const content = { type: 'x/y', annotations: { b: 'c' }, ownerReferences: [{ uid: 'u' }], data: {} }
    const replaced = await writeSecret(client, name, content, made?.metadata)
    expect(replaced).to.deep.include({ type: 'x/y', data: {} })
    expect(replaced?.metadata).to.deep.include({ annotations: { b: 'c' }, ownerReferences: [{ uid: 'u' }] })
    expect(await readSecret(client, name)).to.deep.equal(replaced)
  })

  it('writes nothing when another writer was first', async () => {
    const { client, get, put, remove } = createSecretStore()
    const made = await writeSecret(client, name, { data: { key: '1' } })
    expect(await writeSecret(client, name, { data: { key: '2' } })).to.equal(undefined)
    put('a', { data: { key: 'Mw==' } })
    expect(await writeSecret(client, name, { data: { key: '4' } }, made?.metadata)).to.equal(undefined)
    expect(get('a')?.data).to.deep.equal({ key: 'Mw==' })
    remove('a')
    expect(await writeSecret(client, name, { data: { key: '5' } }, made?.metadata)).to.equal(undefined)
    expect(get('a')).to.equal(undefined)
  })

  for (const code of [403, 404, 503]) {
    it(`throws when the creation of a Secret fails with ${code}`, async () => {
      const call = async () => {
        throw new Status(code, 'Forbidden', 'no')
      }
      const client = { ...createSecretStore().client, call }
      const error = await writeSecret(client, name, { data: {} }).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(Status).that.includes({ code })
    })
  }
})

describe('secretData', () => {
  const metadata = { ...name, uid: 'u', resourceVersion: '7', creationTimestamp: '' }

  it('decodes the data of a Secret, and returns undefined without data', () => {
    const secret = { metadata, data: { text: 'w6Q=', empty: '', odd: 7 } }
    expect(secretData(secret, 'text')?.toString()).to.equal('ä')
    expect(secretData(secret, 'empty')).to.have.length(0)
    for (const key of ['odd', 'none', 'constructor']) expect(secretData(secret, key), key).to.equal(undefined)
    expect(secretData({ metadata }, 'text')).to.equal(undefined)
  })

  it('escapes the name in the path of a Secret', () => {
    expect(secretPath({ namespace: 'ns', name: 'a/b' })).to.equal('/api/v1/namespaces/ns/secrets/a%2Fb')
  })
})
