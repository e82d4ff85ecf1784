import { expect } from 'chai'
import { jane } from '../../apirequest/fixtures.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import { withClocks } from '../../scheduling/clock-fixtures.ts'
import { createNamespaceFinder } from './accessible-namespaces.ts'

const permission = { verb: 'get', group: '', resource: 'pods', subresource: 'log' }
const names = (count: number) => Array.from({ length: count }, (_, i) => `ns-${String(i).padStart(5, '0')}`)

/**
 * A kube-apiserver that allows by namespace ('' for the cluster), and records the attributes of its
 * reviews.
 */
function kubeApiserver(isAllowed: (namespace: string) => boolean) {
  const requests: unknown[] = []
  const client: KubeClient = {
    call: async ({ body }) => {
      const spec = isRecord(body) && isRecord(body.spec) ? body.spec : {}
      const attributes = isRecord(spec.resourceAttributes) ? spec.resourceAttributes : {}
      requests.push(attributes)
      return { status: { allowed: isAllowed(String(attributes.namespace ?? '')) } }
    },
    stream: () => Promise.reject(new Error('nothing is streamed here')),
    close: () => undefined,
  }
  return { client, requests }
}

function finder(isAllowed: (namespace: string) => boolean, bound: readonly string[]) {
  const { client, requests } = kubeApiserver(isAllowed)
  const granted = { names: bound, isEverywhere: false, generation: 0 }
  const index = {
    grantsOf: () => [
      { role: 'view', namespaces: granted.names },
      { role: 'shop/own', namespaces: granted.names.slice(0, 1) },
    ],
  }
  const rbac = { generation: () => granted.generation, allows: () => granted.isEverywhere }
  /** Changes roles and bindings. */
  const change = (what: Partial<typeof granted>) => {
    Object.assign(granted, what)
    granted.generation++
  }
  return { find: createNamespaceFinder({ client, index, permission, rbac }), requests, change }
}

describe('createNamespaceFinder', () => {
  it('sends no review for a superuser', async () => {
    const { find, requests } = finder(() => false, [])
    expect(await find({ ...jane, groups: ['system:masters'] })).to.equal('everywhere')
    expect(requests).to.deep.equal([])
  })

  it('reviews access to the whole cluster first', async () => {
    const { find, requests } = finder(() => true, ['a'])
    expect(await find(jane)).to.equal('everywhere')
    expect(requests).to.deep.equal([{ verb: 'get', resource: 'pods', subresource: 'log' }])
  })

  it('expires entries after ten seconds, also after a change of the system time', async () => {
    let isAllowed = true
    const { find } = finder(() => isAllowed, [])
    expect(await find(jane)).to.equal('everywhere')
    isAllowed = false
    await withClocks({ wallMs: -600_000, monotonicMs: 10_001 }, async () => {
      expect(await find(jane)).to.not.equal('everywhere')
    })
  })

  it('reviews each of a few namespaces that bindings name', async () => {
    const { find, requests } = finder(namespace => namespace === 'b', ['a', 'b'])
    expect(await find(jane)).to.deep.equal(['b'])
    expect(requests).to.deep.equal([
      { verb: 'get', resource: 'pods', subresource: 'log' },
      { verb: 'get', resource: 'pods', subresource: 'log', namespace: 'a' },
      { verb: 'get', resource: 'pods', subresource: 'log', namespace: 'b' },
    ])
  })

  it('reviews 64 of 10,000 namespaces if they agree', async () => {
    const { find, requests } = finder(namespace => namespace !== '', names(10_000))
    expect(await find(jane)).to.deep.equal(names(10_000))
    expect(requests).to.have.length(65)
  })

  it('reviews every namespace when kube-apiserver contradicts a binding', async () => {
    const denied = names(100)[50]
    const { find } = finder(namespace => namespace !== '' && namespace !== denied, names(100))
    expect(await find(jane)).to.deep.equal(names(100).filter(name => name !== denied))
  })

  it('caches the result, and sends one review for concurrent callers', async () => {
    const { find, requests } = finder(() => true, [])
    await Promise.all([find(jane), find(jane), find({ ...jane })])
    await find(jane)
    expect(requests).to.have.length(1)
    await find({ ...jane, groups: [] })
    expect(requests).to.have.length(2)
  })

  it('reviews again as soon as a change of roles or bindings affects the caller', async () => {
    let allowed: readonly string[] = ['a', 'b']
    const { find, requests, change } = finder(namespace => allowed.includes(namespace), ['a', 'b'])
    const first = await find(jane)
    change({})
    expect(await find(jane)).to.equal(first)
    expect(requests).to.have.length(3)
    allowed = ['a']
    change({ names: ['a'] })
    expect(await find(jane)).to.deep.equal(['a'])
    allowed = ['', 'a']
    change({ isEverywhere: true })
    expect(await find(jane)).to.equal('everywhere')
    allowed = []
    change({ isEverywhere: false, names: [] })
    expect(await find(jane)).to.deep.equal([])
  })

  it('asks again soon if kube-apiserver has not received a change yet', async () => {
    let allowed: readonly string[] = ['a', 'b']
    const { find, change } = finder(namespace => allowed.includes(namespace), ['a', 'b'])
    const soon = (work: () => Promise<void>) => withClocks({ wallMs: 0, monotonicMs: 1_001 }, work)
    await find(jane)
    change({ names: ['a'] })
    // The review says what the bindings say, but not for the whole cluster.
    allowed = ['', 'a', 'b']
    expect(await find(jane)).to.equal('everywhere')
    allowed = ['a']
    await soon(async () => {
      expect(await find(jane)).to.deep.equal(['a'])
    })
  })

  it('asks again soon if a binding grants more than a first review allows', async () => {
    let isAllowed = false
    const { find } = finder(namespace => isAllowed && namespace === 'a', ['a'])
    expect(await find(jane)).to.deep.equal([])
    isAllowed = true
    await withClocks({ wallMs: 0, monotonicMs: 1_001 }, async () => {
      expect(await find(jane)).to.deep.equal(['a'])
    })
  })
})
