import { expect } from 'chai'
import { sampleNode, samplePod } from './sample-objects.ts'

const now = new Date('2030-01-02T03:04:05.678Z')

describe('sampleNode', () => {
  const nodes = Array.from({ length: 5000 }, (_, i) => sampleNode(i, 10250, now))

  it('assigns each node a unique name, address and pod CIDR', () => {
    for (const of of [
      nodes.map(node => node.metadata.name),
      nodes.map(node => node.status.addresses[0]?.address),
      nodes.map(node => node.spec.podCIDR),
      nodes.map(node => node.status.nodeInfo.machineID),
    ]) {
      expect(new Set(of).size).to.equal(nodes.length)
    }
  })

  it('is as large as nodes of production clusters', () => {
    for (const node of nodes.slice(0, 10)) expect(JSON.stringify(node).length).to.be.within(5500, 7500)
  })

  it('is ready when it is created, so that a large cluster needs no second write per node', () => {
    expect(nodes[7]?.status.conditions.at(-1)).to.deep.include({
      type: 'Ready',
      status: 'True',
      lastTransitionTime: '2030-01-02T03:04:05Z',
    })
  })
})

describe('samplePod', () => {
  it('runs on the given node and requests resources', () => {
    const { spec } = samplePod(3, 'worker-1')
    expect(spec.nodeName).to.equal('worker-1')
    expect(spec.containers[0]?.resources).to.deep.equal({
      requests: { cpu: '250m', memory: '320Mi' },
      limits: { cpu: '800m', memory: '896Mi' },
    })
  })
})
