import { expect } from 'chai'
import { thrownFields } from '../../apierrors/fixtures.ts'
import { noRequests, type PodRequestTotals } from '../decorate/pod-request-totals.ts'
import { parseQuantity } from '../decorate/quantity.ts'
import { type NodeOptions, node } from '../fixtures.ts'
import { decorateNode, nodes } from './nodes.ts'

const cellsOf = (options: NodeOptions) => {
  const { cells } = nodes.toFields(node('n1', options))
  return Object.fromEntries(nodes.columns.map(({ name }, i) => [name, cells[i]]))
}
const conditions = (...list: readonly (readonly [string, string])[]) => ({
  status: { conditions: list.map(([type, status]) => ({ type, status })) },
})

describe('nodes', () => {
  it('have the columns of kube-apiserver, with the same names, and then additional ones', () => {
    expect(nodes.columns.map(({ name, priority }) => `${name} ${priority}`)).to.deep.equal([
      'Name 0',
      'Status 0',
      'Roles 0',
      'Age 0',
      'Version 0',
      'Internal-IP 1',
      'External-IP 1',
      'OS-Image 1',
      'Kernel-Version 1',
      'Container-Runtime 1',
      'Pods 1',
      'CPU-Requests 1',
      'Memory-Requests 1',
    ])
    expect(nodes.columns.map(({ format }) => format)).to.deep.equal(['name', ...Array(12).fill('')])
    expect(nodes.columns.every(({ description }) => description !== '')).to.equal(true)
  })

  it('have no short name and no category of kube-apiserver', () => {
    expect([nodes.shortNames, nodes.categories]).to.deep.equal([[], []])
  })

  it('extract the fields of a complete node', () => {
    expect(
      cellsOf({
        labels: { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/control-plane': '' },
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [
            { type: 'Hostname', address: 'h' },
            { type: 'InternalIP', address: '10.0.0.1' },
            { type: 'InternalIP', address: 'fd00::1' },
            { type: 'ExternalIP', address: '192.0.2.1' },
          ],
          nodeInfo: {
            kubeletVersion: 'v1.36.3',
            osImage: 'Debian',
            kernelVersion: '6.1',
            architecture: 'arm64',
            containerRuntimeVersion: 'containerd://2.0',
          },
        },
      }),
    ).to.deep.equal({
      Name: 'n1',
      Status: 'Ready',
      Roles: 'control-plane,worker',
      Age: { since: '2031-05-06T07:08:09Z' },
      Version: 'v1.36.3',
      'Internal-IP': '10.0.0.1',
      'External-IP': '192.0.2.1',
      'OS-Image': 'Debian',
      'Kernel-Version': '6.1 (arm64)',
      'Container-Runtime': 'containerd://2.0',
      Pods: undefined,
      'CPU-Requests': undefined,
      'Memory-Requests': undefined,
    })
  })

  it('extract the fields of a newly registered node', () => {
    expect(cellsOf({})).to.deep.include({
      Status: 'Unknown',
      Roles: '<none>',
      Version: '',
      'Internal-IP': '<none>',
      'External-IP': '<none>',
      'OS-Image': '<unknown>',
      'Kernel-Version': '<unknown>',
      'Container-Runtime': '<unknown>',
    })
  })

  it('extract the fields of a malformed node without failing', () => {
    const status = { conditions: 'x', addresses: [null, 7], nodeInfo: [], allocatable: null }
    expect(cellsOf({ status }).Status).to.equal('Unknown')
  })

  const words: readonly [string, NodeOptions, string, string][] = [
    ['ready', conditions(['Ready', 'True']), 'Ready', 'running'],
    ['not ready', conditions(['Ready', 'False']), 'NotReady', 'warning'],
    ['with an unknown status', conditions(['Ready', 'Unknown']), 'NotReady', 'warning'],
    ['without conditions', {}, 'Unknown', 'running'],
    ['under pressure', conditions(['Ready', 'True'], ['MemoryPressure', 'True']), 'Ready', 'warning'],
    ['out of disk', conditions(['Ready', 'True'], ['DiskPressure', 'Unknown']), 'Ready', 'warning'],
    ['without pressure', conditions(['Ready', 'True'], ['PIDPressure', 'False']), 'Ready', 'running'],
    ['without network', conditions(['Ready', 'True'], ['NetworkUnavailable', 'True']), 'Ready', 'warning'],
    ['with an unknown condition', conditions(['Ready', 'True'], ['Mine', 'True']), 'Ready', 'running'],
    [
      'with a condition named like a property of Object.prototype',
      conditions(['Ready', 'True'], ['constructor', 'False']),
      'Ready',
      'running',
    ],
    [
      'cordoned',
      { ...conditions(['Ready', 'True']), spec: { unschedulable: true } },
      'Ready,SchedulingDisabled',
      'unschedulable',
    ],
    [
      'cordoned and not ready',
      { ...conditions(['Ready', 'False']), spec: { unschedulable: true } },
      'NotReady,SchedulingDisabled',
      'unschedulable',
    ],
    ['uncordoned', { ...conditions(['Ready', 'True']), spec: { unschedulable: false } }, 'Ready', 'running'],
  ]
  for (const [what, options, cell, word] of words) {
    it(`show a node ${what} as ${cell}, and match it with the status ${word}`, () => {
      expect(cellsOf(options).Status).to.equal(cell)
      expect(nodes.toFields(node('n1', options)).status).to.equal(word)
    })
  }

  const roles: readonly [Readonly<Record<string, string>>, string][] = [
    [{}, '<none>'],
    [{ 'node-role.kubernetes.io/': '' }, '<none>'],
    [{ 'kubernetes.io/role': '' }, '<none>'],
    [{ 'kubernetes.io/role': 'edge' }, 'edge'],
    [{ 'kubernetes.io/role': 'edge', 'node-role.kubernetes.io/edge': 'true' }, 'edge'],
    [{ 'node-role.kubernetes.io/b': '', 'node-role.kubernetes.io/a': '' }, 'a,b'],
    [{ 'other.io/role': 'x' }, '<none>'],
  ]
  for (const [labels, expected] of roles) {
    it(`show the labels ${JSON.stringify(labels)} as the roles ${expected}`, () => {
      expect(cellsOf({ labels }).Roles).to.equal(expected)
    })
  }

  it('reject an unknown status', () => {
    expect(thrownFields(() => nodes.filters.status?.('Ready'))).to.deep.equal({
      code: 400,
      reason: 'BadRequest',
      message: 'status must be one of unschedulable, warning, running, not "Ready"',
    })
  })
})

describe('decorateNode', () => {
  const usage: PodRequestTotals = {
    pods: 3,
    cpuRequests: parseQuantity('650m'),
    cpuLimits: parseQuantity('6'),
    memoryRequests: parseQuantity('512Mi'),
    memoryLimits: parseQuantity('2Gi'),
  }
  const fields = nodes.toFields(
    node('n1', { status: { allocatable: { cpu: '4', memory: '3Gi', pods: '110' } } }),
  )

  it('adds the eight annotations and the last three table cells', () => {
    expect(decorateNode(fields, usage, 'example.org')).to.deep.equal({
      annotations: {
        'node.example.org/cpu-limits': '6',
        'node.example.org/cpu-limits-fraction': '150%',
        'node.example.org/cpu-requests': '650m',
        'node.example.org/cpu-requests-fraction': '16%',
        'node.example.org/memory-limits': '2Gi',
        'node.example.org/memory-limits-fraction': '66%',
        'node.example.org/memory-requests': '512Mi',
        'node.example.org/memory-requests-fraction': '16%',
      },
      cells: ['3/110', '650m/4 (16%)', '512Mi/3Gi (16%)'],
    })
  })

  it('returns 0 for a node without pods, and for one without allocatable resources', () => {
    const { annotations, cells } = decorateNode(nodes.toFields(node('n1')), noRequests, 'kapis.io')
    expect(new Set(Object.values(annotations))).to.deep.equal(new Set(['0', '0%']))
    expect(cells).to.deep.equal(['0/?', '0/?', '0/?'])
  })
})
