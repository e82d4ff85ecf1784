import { expect } from 'chai'
import { startLoopback, toExchange } from '../../../apirequest/fixtures.ts'
import type { Kind } from '../../../resourcecache/kind.ts'
import { plain } from '../../../resourcecache/kinds/platform.ts'
import { createNativeKinds } from './native-kind.ts'

const group = 'resources.kapis.io'
const base = `/kapis/${group}/v1alpha3`

function kind(plural: string, source: Kind['source'], namespaced = true): Kind {
  const names = { plural, singular: '', kind: '', shortNames: [], categories: [], columns: [] }
  return { ...plain, ...names, namespaced, source }
}
const kinds = [
  kind('secrets', { group: '', version: 'v1', path: '/api/v1/secrets' }),
  kind('users', { group: 'iam.kapis.io', version: 'v1alpha2', path: '' }, false),
]

describe('createNativeKinds', () => {
  const natives = createNativeKinds({
    group,
    version: 'v1alpha3',
    isDeclared: plural => plural === 'nodes',
    find: async plural => kinds.find(found => found.plural === plural),
  })
  async function send(path: string, method = 'GET') {
    const asked = Promise.withResolvers<readonly [unknown, unknown, unknown]>()
    const server = await startLoopback(async (req, res) => {
      const exchange = toExchange(req, res)
      const attributes = await natives.attributesOf(exchange)
      const served = natives.of({ ...exchange, upgrade: Buffer.alloc(0) })
      asked.resolve([attributes && { ...attributes, path: '', parts: [] }, served, exchange.info])
      res.end()
    })
    await fetch(`http://127.0.0.1:${server.port}${path}`, { method })
    await server.close()
    return asked.promise
  }

  const rows: readonly [string, string, object][] = [
    ['GET', `${base}/secrets`, { verb: 'list', group: '', version: 'v1', resource: 'secrets' }],
    ['GET', `${base}/namespaces/n/secrets/s`, { verb: 'get', group: '', namespace: 'n', name: 's' }],
    ['GET', `${base}/namespaces/n/secrets?watch=true`, { verb: 'watch', group: '', namespace: 'n' }],
    ['GET', `/kapi/${group}/v1alpha3/secrets`, { verb: 'list', group: '', resource: 'secrets' }],
    ['DELETE', `${base}/namespaces/n/secrets/s`, { verb: 'delete', group: '', name: 's' }],
    ['GET', `${base}/users/jane`, { verb: 'get', group: 'iam.kapis.io', version: 'v1alpha2', name: 'jane' }],
  ]
  for (const [method, path, attributes] of rows)
    it(`serves ${method} ${path} as the native kind`, async () => {
      const [given, served] = await send(path, method)
      expect(given).to.include(attributes)
      expect(served).to.equal(kinds.find(({ source }) => source.group === Object(given).group))
    })

  for (const path of ['/nodes', '/components', '/componenthealth', '/namespaces/n/imageconfig'])
    it(`leaves ${path} to the group that declares it`, async () =>
      expect((await send(base + path)).slice(0, 2)).to.deep.equal([undefined, undefined]))

  for (const path of [
    `/apis/${group}/v1alpha3/secrets`,
    '/kapi/v1/secrets',
    `/kapis/${group}/v1alpha2/quotas`,
  ])
    it(`ignores ${path}`, async () =>
      expect((await send(path)).slice(0, 2)).to.deep.equal([undefined, undefined]))

  it('keeps the requested name of an unknown resource', async () => {
    const [given, served, info] = await send(`${base}/nothings`)
    expect([given, served]).to.deep.equal([{ ...Object(info), path: '', parts: [] }, undefined])
  })
})
