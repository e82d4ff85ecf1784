import { expect } from 'chai'
import type { Call, KubeClient } from '../../kubeclient/client.ts'
import { toUser } from './user.ts'
import { parseUserDraft } from './user-draft.ts'
import { createUserWriter } from './user-writer.ts'

const groupDomain = 'kapis.io'
const ownEmail = 'iam.kapis.io/own-email'
const address = 'mia@x.test'
const hash = `$2b$10$${'Aa1'.repeat(17)}Aa`

function object(name: string, email: string, annotations: object = {}) {
  return {
    apiVersion: 'iam.kapis.io/v1alpha2',
    kind: 'User',
    metadata: {
      ...{ name, uid: `u-${name}`, resourceVersion: '7', creationTimestamp: '2031-01-01T00:00:00Z' },
      annotations: { ...annotations },
    },
    spec: { email },
  }
}

/** @param holder the user who has the address; the user jane has another address */
function setUp(holder: ReturnType<typeof object>, jane = object('jane', 'jane@x.test')) {
  const calls: Call[] = []
  const hashes: string[] = []
  const client: KubeClient = {
    async call(call) {
      calls.push(call)
      return call.method === undefined ? jane : { ...jane, ...Object(call.body).spec }
    },
    stream: () => Promise.reject(new Error('not used')),
    close: () => undefined,
  }
  const writer = createUserWriter({
    client,
    groupDomain,
    hasher: { hash: async text => `hash of ${text}`, verify: async () => false, pending: () => 0 },
    store: {
      async keep(_user, kept) {
        hashes.push(kept)
        return { credential: 'c', credentialNamespace: '' }
      },
      referenceTo: () => ({ credential: 'c', credentialNamespace: '' }),
    },
    users: { find: login => (login === address ? toUser(holder) : undefined) },
  })
  return { writer, calls, hashes }
}

describe('writing an e-mail address that another user has', () => {
  const how = { isDryRun: true, permit: async () => undefined }
  const given = object('mia', address)
  const claimed = object('mia', address, { [ownEmail]: address })
  const rows: readonly [string, ReturnType<typeof object>, object, boolean][] = [
    ['rejects an address given by an administrator for another user', given, {}, false],
    [
      'rejects an address given by an administrator when a user claims it',
      given,
      { [ownEmail]: address },
      false,
    ],
    [
      'rejects an address that is only claimed for another user’s claim',
      claimed,
      { [ownEmail]: address },
      false,
    ],
    ['lets an administrator give an address that is only claimed', claimed, {}, true],
  ]
  for (const [title, holder, annotations, isGiven] of rows)
    it(title, async () => {
      const body = { metadata: { name: 'jane', annotations }, spec: { email: address } }
      const { writer, calls } = setUp(holder)
      const error = await writer.update(parseUserDraft(body, groupDomain), how).catch(thrown => thrown)
      expect(calls.some(({ method }) => method === 'PUT')).to.equal(isGiven)
      if (!isGiven) expect(String(error)).to.contain('belongs to another user')
    })

  it('rejects a claimed address that another user has when the claim annotation is removed', async () => {
    const { writer, calls } = setUp(given, object('jane', address, { [ownEmail]: address }))
    const body = { metadata: { name: 'jane', annotations: {} }, spec: { email: address } }
    const error = await writer.update(parseUserDraft(body, groupDomain), how).catch(thrown => thrown)
    expect(String(error)).to.contain('belongs to another user')
    expect(calls.map(({ method = 'GET' }) => method)).to.deep.equal(['GET'])
  })

  it('does not block other changes of a user who also has it', async () => {
    const { writer, calls } = setUp(given, object('jane', address, { [ownEmail]: address }))
    const metadata = { name: 'jane', annotations: { [ownEmail]: address } }
    await writer.update(parseUserDraft({ metadata, spec: { email: address, lang: 'de' } }, groupDomain), how)
    expect(calls.map(({ method = 'GET' }) => method)).to.deep.equal(['GET', 'PUT'])
  })
})

describe('setPassword', () => {
  it('hashes any text, and never stores a text as a hash', async () => {
    const { writer, hashes } = setUp(object('mia', address))
    await writer.setPassword('jane', hash, { isDryRun: false, permit: undefined })
    expect(hashes).to.deep.equal([`hash of ${hash}`])
  })
})
