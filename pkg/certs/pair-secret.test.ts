import { expect } from 'chai'
import { Status } from '../status/status.ts'
import { createSecretStore } from './fixtures.ts'
import { parsePair, readPair, writePair } from './pair-secret.ts'

const pair = { certPem: 'CERT\n', keyPem: 'KEY\n' }
const target = { namespace: 'ns', name: 'a', pair, old: undefined }

describe('writePair and readPair', () => {
  it('keep a pair in a Secret of type kubernetes.io/tls', async () => {
    const store = createSecretStore()
    expect(await readPair(store.client, 'ns', 'a')).to.equal(undefined)
    expect(await writePair(store.client, target)).to.equal(true)
    const stored = await readPair(store.client, 'ns', 'a')
    expect(stored).to.deep.include({ ...pair, isOurs: true })
    expect(store.get('a')).to.deep.include({
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': 'Q0VSVAo=', 'tls.key': 'S0VZCg==' },
    })
  })

  it('write nothing when somebody else was first', async () => {
    const store = createSecretStore()
    await writePair(store.client, target)
    const old = await readPair(store.client, 'ns', 'a')
    expect(await writePair(store.client, target)).to.equal(false)
    const mine = { ...target, pair: { ...pair, certPem: 'MINE' }, old }
    expect(await writePair(store.client, mine)).to.equal(true)
    expect(await writePair(store.client, { ...mine, pair })).to.equal(false)
    expect((await readPair(store.client, 'ns', 'a'))?.certPem).to.equal('MINE')
  })

  it('tell every other failure', async () => {
    const client = {
      ...createSecretStore().client,
      call: async () => {
        throw new Status(403, 'Forbidden', 'no')
      },
    }
    for (const work of [readPair(client, 'ns', 'a'), writePair(client, target)]) {
      expect(await work.catch((error: Status) => error.code)).to.equal(403)
    }
  })
})

describe('parsePair', () => {
  const metadata = { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '7', creationTimestamp: '' }

  it('does not take what somebody else has put there for ours', () => {
    const data = { 'tls.crt': 'Q0VSVAo=', 'tls.key': 'S0VZCg==' }
    expect(parsePair({ metadata, data })).to.deep.equal({ ...pair, resourceVersion: '7', isOurs: false })
  })

  it('names what is missing', () => {
    expect(() => parsePair({ metadata, data: { 'tls.crt': '' } })).to.throw('Secret ns/a has no tls.key')
    expect(() => parsePair({ metadata })).to.throw('Secret ns/a has no tls.crt')
  })
})
