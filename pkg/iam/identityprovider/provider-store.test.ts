import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { createScriptedCollection, until } from '../fixtures.ts'
import type { ProviderConfig } from './config.ts'
import { ProviderStore } from './provider-store.ts'

let version = 1
function secret(
  name: string,
  document: unknown,
  changes: { type?: string; createdAt?: string } = {},
): KubeObject {
  return {
    metadata: {
      name,
      uid: name,
      resourceVersion: String(++version),
      creationTimestamp: changes.createdAt ?? '2026-01-01T00:00:00Z',
    },
    type: changes.type ?? 'config.kapis.io/identityprovider',
    data: { 'configuration.yaml': Buffer.from(JSON.stringify(document)).toString('base64') },
  }
}

const document = (name: string, more: object = {}) => ({
  name,
  type: 'OIDCIdentityProvider',
  provider: { issuer: 'https://id.example.com', clientID: 'kapis', clientSecret: 'hunter2' },
  ...more,
})

function watched(initial: readonly KubeObject[], onChange = () => undefined) {
  const lines: Record<string, unknown>[] = []
  const logger = createLogger({
    program: 'test',
    level: 'info',
    destination: { write: line => void lines.push(JSON.parse(line)) },
  })
  const collection = createScriptedCollection(initial)
  const made: ProviderConfig[] = []
  const store = new ProviderStore({
    client: collection.client,
    groupDomain: 'kapis.io',
    namespace: 'kapis-system',
    logger,
    createProviderClient(config) {
      made.push(config)
      return {
        kind: 'redirect',
        redirectUrl: '',
        begin: async () => new URL('https://a'),
        finish: () => Promise.reject(),
      }
    },
    onChange,
  })
  const names = () => [...store.all()].map(({ config }) => config.name)
  return { store, collection, lines, made, names }
}

describe('ProviderStore', () => {
  it('returns the enabled providers by name', async () => {
    const { store, names } = watched([
      secret('b', document('b')),
      secret('a', document('a', { hidden: true })),
      secret('off', document('off', { disabled: true })),
    ])
    await store.start()
    expect(names()).to.deep.equal(['a', 'b'])
    expect(store.get('off')).to.equal(undefined)
    store.stop()
  })

  it('omits an invalid provider, and reports why without quoting the Secret', async () => {
    const { store, names, lines } = watched([
      secret('broken', document('x', { provider: { clientID: 'kapis', clientSecrets: 'hunter2' } })),
      secret('wrong', document('y'), { type: 'Opaque' }),
      secret('good', document('good')),
    ])
    await store.start()
    expect(names()).to.deep.equal(['good'])
    expect(
      lines
        .filter(({ level }) => level === 'error')
        .map(({ secretName, problems }) => ({ secretName, problems })),
    ).to.deep.equal([
      {
        secretName: 'broken',
        problems: [
          { path: 'provider.issuer', message: 'is required' },
          {
            path: 'provider.clientSecrets',
            message:
              'unknown; supported: clientID, clientSecret, redirectURL, scopes, endpoint, readTimeout, rootCA, rootCAData, insecureSkipVerify, issuer, getUserInfo, emailKey, preferredUsernameKey, groupsKey, idTokenSignedResponseAlg',
          },
        ],
      },
      {
        secretName: 'wrong',
        problems: [{ path: 'type', message: 'of the Secret must be config.kapis.io/identityprovider' }],
      },
    ])
    expect(JSON.stringify(lines)).to.not.contain('hunter2')
    expect([...store.entries()].map(entry => [entry.name, entry.provider !== undefined])).to.deep.equal([
      ['broken', false],
      ['wrong', false],
      ['good', true],
    ])
    store.stop()
  })

  it('follows changes: a provider is added, becomes invalid, is fixed, is removed', async () => {
    const { store, collection, names } = watched([])
    await store.start()
    const change = (type: 'ADDED' | 'MODIFIED' | 'DELETED', described: object, then: string) =>
      until(() => {
        // Emitted repeatedly: the watch begins a moment after the list.
        collection.emit({ type, object: secret('s', described) })
        return names().join() === then
      })
    await change('ADDED', document('a'), 'a')
    await change('MODIFIED', { name: 'a' }, '')
    await change('MODIFIED', document('renamed'), 'renamed')
    await change('DELETED', document('renamed'), '')
    store.stop()
  })

  it('reuses the client of an unchanged Secret after a new list', async () => {
    const kept = secret('kept', document('kept'))
    const gone = secret('gone', document('gone'))
    const { store, collection, made, names } = watched([kept, gone])
    await store.start()
    const before = store.get('kept')
    await until(() => {
      collection.emit({ type: 'DELETED', object: gone })
      return names().join() === 'kept'
    })
    collection.expire([kept, secret('new', document('new'))])
    await until(() => names().join() === 'kept,new')
    expect(store.get('kept')).to.equal(before)
    expect(made.map(({ name }) => name)).to.deep.equal(['kept', 'gone', 'new'])
    store.stop()
  })

  it('assigns a name to the oldest Secret that claims it', async () => {
    const { store, lines } = watched([
      secret('young', document('a', { displayName: 'young' }), { createdAt: '2026-02-01T00:00:00Z' }),
      secret('old', document('a', { displayName: 'old' })),
    ])
    await store.start()
    expect(store.get('a')?.config.displayName).to.equal('old')
    expect(lines.filter(({ level }) => level === 'error')).to.have.lengthOf(1)
    expect(lines.at(-1)).to.deep.include({ secretName: 'young', provider: 'a', holder: 'old' })
    store.stop()
  })

  it('returns the state of a name, and notifies of every change', async () => {
    let changes = 0
    const unnamed = secret('unnamed', document('x'))
    const { store, collection } = watched(
      [secret('a', document('good')), secret('b', document('off', { disabled: true }))],
      () => void changes++,
    )
    void store.start()
    await until(() => store.isReady)
    const standings = () => ['good', 'off', 'bad', 'none'].map(name => store.stateOf(name))
    expect([standings(), changes]).to.deep.equal([['usable', 'disabled', 'gone', 'gone'], 1])
    collection.emit({ type: 'ADDED', object: secret('c', document('bad', { type: 'LDAP' })) })
    await until(() => changes === 2)
    expect(standings()).to.deep.equal(['usable', 'disabled', 'unknown', 'gone'])
    // An invalid Secret without a name may belong to any provider.
    collection.emit({ type: 'ADDED', object: { ...unnamed, data: { 'configuration.yaml': 'ew==' } } })
    await until(() => changes === 3)
    expect(standings()).to.deep.equal(['usable', 'disabled', 'unknown', 'unknown'])
    store.stop()
  })
})
