import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { bookmark, createRandom, event } from '../fixtures.ts'
import { createPodRequestIndex, noRequests } from './pod-request-totals.ts'
import { formatQuantity } from './quantity.ts'

type PodOptions = {
  readonly cpu?: string
  readonly memory?: string
  readonly phase?: string
  readonly namespace?: string
}

function pod(name: string, nodeName: string | undefined, options: PodOptions = {}): KubeObject {
  const { cpu = '100m', memory = '64Mi', phase = 'Running', namespace = 'ns' } = options
  const resources = { requests: { cpu, memory }, limits: { cpu, memory } }
  return {
    metadata: { name, namespace, uid: name, resourceVersion: '1', creationTimestamp: '' },
    spec: { ...(nodeName === undefined ? {} : { nodeName }), containers: [{ resources }] },
    status: { phase, podIP: String(Math.random()) },
  }
}

function createRecorder() {
  const notified: string[][] = []
  const index = createPodRequestIndex(nodes => notified.push([...nodes].sort()))
  const read = (node: string) => {
    const { pods, cpuRequests, memoryLimits } = index.of(node)
    return `${pods} ${formatQuantity(cpuRequests)} ${formatQuantity(memoryLimits)}`
  }
  return { ...index, notified, read }
}

describe('createPodRequestIndex', () => {
  it('returns nothing for a node without pods', () => {
    const { of, handler, notified } = createRecorder()
    expect(of('n1')).to.equal(noRequests)
    handler.replace([])
    expect(of('n1')).to.equal(noRequests)
    expect(notified.flat()).to.deep.equal([])
  })

  it('sums up the initial pods', () => {
    const { handler, notified, read } = createRecorder()
    handler.replace([pod('a', 'n1'), pod('b', 'n1', { cpu: '1' }), pod('c', 'n2'), pod('d', undefined)])
    expect([read('n1'), read('n2')]).to.deep.equal(['2 1100m 128Mi', '1 100m 64Mi'])
    expect(notified).to.deep.equal([['n1', 'n2']])
  })

  it('counts a pod from its binding to a node on', () => {
    const { handler, notified, read } = createRecorder()
    handler.apply([event('ADDED', pod('a', undefined))])
    expect(notified).to.deep.equal([])
    handler.apply([event('MODIFIED', pod('a', 'n1'))])
    expect(read('n1')).to.equal('1 100m 64Mi')
    expect(notified).to.deep.equal([['n1']])
  })

  it('follows changes of a pod’s requests', () => {
    const { handler, notified, read } = createRecorder()
    handler.replace([pod('a', 'n1')])
    handler.apply([event('MODIFIED', pod('a', 'n1', { cpu: '2' }))])
    expect(read('n1')).to.equal('1 2 64Mi')
    expect(notified).to.deep.equal([['n1'], ['n1']])
  })

  it('notifies both nodes when a pod moves to another one', () => {
    const { handler, notified, read } = createRecorder()
    handler.replace([pod('a', 'n1')])
    handler.apply([event('MODIFIED', pod('a', 'n2'))])
    expect([read('n1'), read('n2')]).to.deep.equal(['0 0 0', '1 100m 64Mi'])
    expect(notified.at(-1)).to.deep.equal(['n1', 'n2'])
  })

  for (const type of ['DELETED', 'MODIFIED'] as const) {
    it(`subtracts a pod that has ended (${type})`, () => {
      const { of, handler, notified } = createRecorder()
      handler.replace([pod('a', 'n1')])
      handler.apply([event(type, pod('a', 'n1', type === 'MODIFIED' ? { phase: 'Succeeded' } : {}))])
      expect(of('n1')).to.equal(noRequests)
      expect(notified).to.deep.equal([['n1'], ['n1']])
    })
  }

  it('notifies no node if no sum changes', () => {
    const { handler, notified } = createRecorder()
    handler.replace([pod('a', 'n1')])
    handler.apply([
      event('MODIFIED', pod('a', 'n1')),
      event('MODIFIED', pod('a', 'n1', { cpu: '0.1', memory: '65536Ki' })),
      event('DELETED', pod('unknown', 'n1')),
      event('ADDED', pod('ended', 'n1', { phase: 'Failed' })),
      bookmark(9),
    ])
    handler.apply([])
    expect(notified).to.have.length(1)
  })

  it('notifies once per batch', () => {
    const { handler, notified } = createRecorder()
    handler.apply([
      event('ADDED', pod('a', 'n1')),
      event('ADDED', pod('b', 'n2')),
      event('ADDED', pod('c', 'n1')),
    ])
    expect(notified).to.deep.equal([['n1', 'n2']])
  })

  it('separates pods of the same name in two namespaces', () => {
    const { handler, read } = createRecorder()
    handler.apply([
      event('ADDED', pod('a', 'n1', { namespace: 'x' })),
      event('ADDED', pod('a', 'n1', { namespace: 'y' })),
    ])
    expect(read('n1')).to.equal('2 200m 128Mi')
  })

  it('starts again with a new list, and notifies the nodes that lost their pods', () => {
    const { of, handler, notified, read } = createRecorder()
    handler.replace([pod('a', 'n1'), pod('b', 'n2')])
    handler.replace([pod('b', 'n2', { cpu: '3' })])
    expect(of('n1')).to.equal(noRequests)
    expect(read('n2')).to.equal('1 3 64Mi')
    expect(notified.at(-1)).to.deep.equal(['n1', 'n2'])
  })

  it('equals a sum computed from scratch after any history', () => {
    const random = createRandom(3)
    const { handler, read } = createRecorder()
    const pods = new Map<string, KubeObject>()
    for (let i = 0; i < 3000; i++) {
      const name = `p${random(60)}`
      const phase = random(8) === 0 ? 'Succeeded' : 'Running'
      const next = pod(name, random(5) === 0 ? undefined : `n${random(4)}`, {
        cpu: `${random(4000)}m`,
        phase,
      })
      if (random(4) === 0) {
        handler.apply([event('DELETED', pods.get(name) ?? next)])
        pods.delete(name)
      } else {
        handler.apply([event(pods.has(name) ? 'MODIFIED' : 'ADDED', next)])
        pods.set(name, next)
      }
    }
    const again = createRecorder()
    again.handler.replace([...pods.values()])
    for (const node of ['n0', 'n1', 'n2', 'n3', 'n4']) expect(read(node)).to.equal(again.read(node))
  })
})
