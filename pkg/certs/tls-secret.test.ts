import { expect } from 'chai'
import { Status } from '../apierrors/status.ts'
import { createSecretStore } from './fixtures.ts'
import { parsePair, readPair, writePair } from './tls-secret.ts'

const pair = { certPem: 'CERT\n', keyPem: 'KEY\n' }
const name = { namespace: 'ns', name: 'a' }

describe('writePair and readPair', () => {
  it('store a pair in a Secret of type kubernetes.io/tls', async () => {
    const store = createSecretStore()
    expect(await readPair(store.client, name)).to.equal(undefined)
    expect(await writePair(store.client, name, pair, undefined)).to.equal(true)
    const stored = await readPair(store.client, name)
    expect(stored).to.deep.include({ ...pair, isOurs: true })
    expect(store.get('a')).to.deep.include({
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': 'Q0VSVAo=', 'tls.key': 'S0VZCg==' },
    })
  })

  it('write nothing if another replica was first', async () => {
    const store = createSecretStore()
    await writePair(store.client, name, pair, undefined)
    const old = await readPair(store.client, name)
    expect(await writePair(store.client, name, pair, undefined)).to.equal(false)
    expect(await writePair(store.client, name, { ...pair, certPem: 'MINE' }, old)).to.equal(true)
    expect(await writePair(store.client, name, pair, old)).to.equal(false)
    expect((await readPair(store.client, name))?.certPem).to.equal('MINE')
  })

  it('report every other failure', async () => {
    const client = {
      ...createSecretStore().client,
      call: async () => {
        throw new Status(403, 'Forbidden', 'no')
      },
    }
    for (const work of [readPair(client, name), writePair(client, name, pair, undefined)]) {
      expect(await work.catch((error: Status) => error.code)).to.equal(403)
    }
  })
})

describe('parsePair', () => {
  const metadata = { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '7', creationTimestamp: '' }

  it('rejects a Secret that is not its own', () => {
    const data = { 'tls.crt': 'Q0VSVAo=', 'tls.key': 'S0VZCg==' }
    expect(parsePair({ metadata, data })).to.deep.equal({ ...pair, resourceVersion: '7', isOurs: false })
  })

  it('names what is missing', () => {
    expect(() => parsePair({ metadata, data: { 'tls.crt': '' } })).to.throw('Secret ns/a has no tls.key')
    expect(() => parsePair({ metadata })).to.throw('Secret ns/a has no tls.crt')
  })
})
