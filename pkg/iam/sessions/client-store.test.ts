import { expect } from 'chai'
import { defaultClient } from '../../config/sections/built-in-clients.ts'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { createScriptedCollection, until } from '../fixtures.ts'
import { ClientStore } from './client-store.ts'

const type = 'config.kapis.io/oauthclient'

function secret(name: string, document: string, changes: object = {}): KubeObject {
  return {
    metadata: { name, uid: name, resourceVersion: '2', creationTimestamp: '2026-01-01T00:00:00Z' },
    type,
    data: { 'configuration.yaml': Buffer.from(document).toString('base64') },
    ...changes,
  }
}

describe('ClientStore', () => {
  let store: ClientStore
  let lines: Record<string, unknown>[]
  afterEach(() => store.stop())

  async function follow(initial: readonly KubeObject[]) {
    const collection = createScriptedCollection(initial)
    lines = []
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) }
    store = new ClientStore({
      client: collection.client,
      groupDomain: 'kapis.io',
      namespace: 'kapis-system',
      logger: createLogger({ program: 'test', level: 'info', destination }),
      configured: [{ client: defaultClient, secret: 'configured' }],
    })
    await store.start()
    return collection
  }
  const secretOf = (name: string) => store.find(name)?.secret

  it('returns the clients of the configuration before any Secret is read', async () => {
    await follow([])
    expect(secretOf('kapis')).to.equal('configured')
    for (const name of ['', 'nonexistent', '__proto__']) expect(store.find(name)).to.equal(undefined)
  })

  it('follows changes of the Secrets', async () => {
    const collection = await follow([secret('a', 'name: console\nsecret: s1')])
    expect(secretOf('console')).to.equal('s1')
    await until(() => {
      collection.emit({ type: 'MODIFIED', object: secret('a', '{name: console, secret: s2}') })
      return secretOf('console') === 's2'
    })
    await until(() => {
      collection.emit({ type: 'DELETED', object: secret('a', '') })
      return store.find('console') === undefined
    })
    collection.expire([secret('b', 'name: other\nsecret: s3')])
    await until(() => secretOf('other') === 's3')
  })

  it('skips an invalid Secret, names the field, and keeps the other clients', async () => {
    await follow([
      secret('broken', 'name: broken\nsecret: hunter2\nredirectURIs: ["*"]'),
      secret('foreign', 'name: foreign\nsecret: hunter2', { type: 'Opaque' }),
      secret('text', 'secret: "hunter2'),
      secret('good', 'name: good\nsecret: s1'),
    ])
    expect(secretOf('good')).to.equal('s1')
    for (const name of ['broken', 'foreign']) expect(store.find(name)).to.equal(undefined)
    const logged = lines.map(({ secretName, problems }) => [secretName, problems])
    expect(logged).to.deep.equal([
      [
        'broken',
        [
          {
            path: 'redirectURIs[0]',
            message: 'must be one URI; * would send authorization codes to any site, not "*"',
          },
        ],
      ],
      ['foreign', [{ path: 'type', message: `must be ${type}` }]],
      [
        'text',
        [
          {
            path: 'configuration.yaml',
            message: 'is not valid YAML (MISSING_CHAR at line 1, column 17)',
          },
        ],
      ],
    ])
    expect(JSON.stringify(lines)).to.not.contain('hunter2')
  })

  it('prefers the configuration for a name, then the older Secret, and logs it', async () => {
    await follow([
      secret('a', 'name: kapis\nsecret: s1'),
      secret('b', 'name: shared\nsecret: s2'),
      secret('c', 'name: shared\nsecret: s3', {
        metadata: { name: 'c', uid: 'c', resourceVersion: '2', creationTimestamp: '2025-01-01T00:00:00Z' },
      }),
    ])
    expect([secretOf('kapis'), secretOf('shared')]).to.deep.equal(['configured', 's3'])
    expect(lines.map(({ secretName, client, winner }) => [secretName, client, winner])).to.deep.equal([
      ['a', 'kapis', 'the configuration'],
      ['b', 'shared', 'an older Secret'],
    ])
  })
})
