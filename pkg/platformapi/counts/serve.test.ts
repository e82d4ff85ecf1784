import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { renderKube } from '../../apierrors/render-kube.ts'
import { Status } from '../../apierrors/status.ts'
import { type Loopback, startLoopback, toExchange } from '../../apirequest/fixtures.ts'
import type { Handler } from '../../apirequest/request-context.ts'
import { createLineReader } from '../../apirequest/request-line.ts'
import { sendJson } from '../../httpserver/response/respond.ts'
import { createCounts } from './serve.ts'

const root = '/kapis/resources.kapis.io/v1alpha3'

describe('createCounts', () => {
  let loopback: Loopback | undefined
  afterEach(() => loopback?.close())

  async function send(query: string, serveList: Handler) {
    const counts = createCounts({ root, readLine: createLineReader(), serveList })
    loopback = await startLoopback(async (req, res) => {
      try {
        await counts(toExchange(req, res))
      } catch (error) {
        renderKube(res, error)
      }
    })
    const { code, text } = await loopback.get(`${root}/counts${query}`)
    return { code, body: JSON.parse(text) }
  }

  it('counts each kind with one list, and reports why a kind is not counted', async () => {
    const requests: string[] = []
    const { code, body } = await send(
      '?kinds=pods,secrets,pods,nodes',
      ({ res, rawPath, rawQuery, info, isSubrequest }) => {
        requests.push(`${info.verb} ${rawPath}?${rawQuery} ${isSubrequest}`)
        if (info.resource === 'secrets') throw new Status(403, 'Forbidden', 'secrets is forbidden')
        if (info.resource === 'nodes') throw new Error('a fault of the server')
        res.setHeader('Kapis-Narrowed-Namespaces', '3')
        sendJson(res, 200, { items: [], totalItems: 7 })
      },
    )
    expect(requests).to.deep.equal(
      ['pods', 'secrets', 'nodes'].map(kind => `list ${root}/${kind}?limit=0 true`),
    )
    expect(code).to.equal(200)
    const [pods, secrets, nodes] = body.items
    expect(body.totalItems).to.equal(3)
    expect(pods).to.deep.equal({ resource: 'pods', totalItems: 7, namespaces: 3 })
    expect(secrets.status).to.include({ kind: 'Status', code: 403, message: 'secrets is forbidden' })
    expect(nodes.status).to.include({ code: 500 })
    expect(JSON.stringify(nodes)).to.not.contain('a fault of the server')
  })

  it('stops counting when the deadline has ended the response', async () => {
    let requestCount = 0
    const ended = Promise.withResolvers<void>()
    let outer: ServerResponse | undefined
    const counts = createCounts({
      root,
      readLine: createLineReader(),
      serveList() {
        requestCount++
        outer?.end('{}')
      },
    })
    loopback = await startLoopback((req, res) => {
      outer = res
      ended.resolve(counts(toExchange(req, res)) ?? undefined)
    })
    await loopback.get(`${root}/counts?kinds=pods,services,nodes`)
    await ended.promise
    expect(requestCount).to.equal(1)
  })

  it('counts in a namespace the namespaced kinds by default', async () => {
    const requests: string[] = []
    const { body } = await send('?namespace=shop', ({ res, rawPath }) => {
      requests.push(rawPath)
      sendJson(res, 200, { items: [], totalItems: 0 })
    })
    expect(requests).to.include(`${root}/namespaces/shop/pods`)
    expect(body.items.map(({ resource }: { resource: string }) => resource)).to.not.include('nodes')
  })

  it('rejects clusters, which it would otherwise not count', async () => {
    const { code, body } = await send('?kinds=pods&clusters=*', () => {
      throw new Error('not asked')
    })
    expect([code, body.message]).to.deep.equal([
      400,
      'clusters is not supported for counts; list one kind with clusters and limit=0',
    ])
  })
})
