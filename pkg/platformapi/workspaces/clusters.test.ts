import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { Status, unavailable } from '../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import { parseListQuery } from '../../apirequest/query/list-query.ts'
import { sendJson } from '../../httpserver/response/respond.ts'
import { entry } from '../../resourcecache/fixtures.ts'
import { createClusterView, isForClusterView } from './clusters.ts'

const root = '/kapis/tenant.kapis.io/v1alpha2'

describe('createClusterView', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function send(path: string, method = 'GET') {
    const view = createClusterView({
      groupDomain: 'kapis.io',
      names: () => ['east', 'hidden', 'west'],
      async requirePermission(_identity, { verb, group, resource, name }) {
        expect([verb, group, resource]).to.deep.equal(['get', 'cluster.kapis.io', 'clusters'])
        if (name === 'hidden') throw new Status(403, 'Forbidden', 'no')
        if (path.endsWith('?down')) throw unavailable('kube-apiserver is not responding')
      },
      async read({ info, res, query }, { narrow }) {
        const narrowed = await narrow?.(parseListQuery(query))
        const names = ['east', 'hidden', 'host', 'new', 'west']
        const visible = names.filter(name => narrowed?.narrowing.matches(entry(name)))
        sendJson(res, 200, [info.path, info.verb, info.name, ...visible])
      },
    })
    loopback = await startLoopback(async (req, res) => {
      try {
        await view(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
    const { text } = await loopback.get(path, { method })
    const body = JSON.parse(text)
    return Array.isArray(body) ? body : [body.code, body.message]
  }
  const native = '/kapis/cluster.kapis.io/v1alpha1/clusters'

  it('shows the Clusters that the caller may get', async () => {
    const all = await send(`${root}/clusters?limit=10&sortBy=name`)
    expect(all).to.deep.equal([native, 'list', '', 'east', 'host', 'west'])
  })

  it('shows only this cluster for a workspace', async () => {
    expect(await send(`${root}/workspaces/blue/clusters`)).to.deep.equal([native, 'list', '', 'host'])
  })

  it('rejects watches and writes, and hides no failure', async () => {
    expect(await send(`${root}/clusters?watch=true`)).to.deep.equal([
      400,
      'watch is not supported here; watch clusters of the resources group',
    ])
    expect((await send(`${root}/clusters`, 'DELETE'))[0]).to.equal(405)
    expect(await send(`${root}/clusters?down`)).to.deep.equal([503, 'kube-apiserver is not responding'])
  })

  const paths: readonly [path: string, isOne: boolean][] = [
    [`${root}/clusters`, true],
    ['/kapi/tenant.kapis.io/v1alpha2/workspaces/a/clusters', true],
    [`${root}/clusters/a`, false],
    [`${root}/namespaces/a/clusters`, false],
    ['/kapis/tenant.kapis.io/v1alpha3/clusters', false],
    ['/apis/tenant.kapis.io/v1alpha2/clusters', false],
  ]
  for (const [path, isOne] of paths)
    it(`${path} is ${isOne ? 'the view' : 'another path'}`, async () => {
      const found = Promise.withResolvers<boolean>()
      loopback = await startLoopback((req, res) => {
        found.resolve(isForClusterView('kapis.io', toExchange(req, res)))
        res.end('{}')
      })
      await loopback.get(path)
      expect(await found.promise).to.equal(isOne)
    })
})
