import { expect } from 'chai'
import { Status } from '../../apierrors/status.ts'
import { type FakeKubeApiserver, respondJson, startFakeKubeApiserver } from '../../kubeclient/fixtures.ts'
import { servedNodes } from '../fixtures.ts'
import { plain } from '../kinds/platform.ts'
import { listUncached } from './uncached-list.ts'

const served = { ...servedNodes, kind: { ...servedNodes.kind, ...plain } }

describe('listUncached', () => {
  let fake: FakeKubeApiserver | undefined
  afterEach(() => fake?.close())

  it('reads all pages each time, even objects without a version', async () => {
    fake = await startFakeKubeApiserver((req, res) => {
      const isLast = req.url?.includes('continue=more')
      const items = [{ metadata: { name: isLast ? 'b' : 'a' } }]
      respondJson(res, 200, { kind: 'List', metadata: isLast ? {} : { continue: 'more' }, items })
    })
    const store = await listUncached(fake.client, served)
    expect([...store.entries()].map(({ name }) => name)).to.deep.equal(['a', 'b'])
    expect(String(store.get('', 'a')?.platformHead())).to.equal(
      '{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","selfLink":"/api/v1/nodes/a"}',
    )
    await listUncached(fake.client, served)
    expect(fake.requests).to.have.length(4)
  })

  for (const [answered, code, message] of [
    [404, 404, 'the server could not find the requested resource'],
    [403, 503, 'the Kapis service account cannot list nodes: add get, list and watch to its ClusterRole'],
    [500, 503, 'failed to list nodes at kube-apiserver'],
  ] as const) {
    it(`throws ${code} when kube-apiserver answers ${answered}`, async () => {
      fake = await startFakeKubeApiserver((_req, res) => respondJson(res, answered, { message: 'no' }))
      const rejection = await listUncached(fake.client, served).catch((error: unknown) => error)
      expect(rejection).to.be.instanceOf(Status).that.includes({ code, message })
    })
  }
})
