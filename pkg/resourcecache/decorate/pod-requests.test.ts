import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { toPodRequests } from './pod-requests.ts'
import { formatQuantity } from './quantity.ts'

type Lists = { readonly requests?: object; readonly limits?: object }

const container = (requests: object, limits: object = {}) => ({ resources: { requests, limits } })
const sidecar = (requests: object, limits: object = {}) => ({
  ...container(requests, limits),
  restartPolicy: 'Always',
})

function pod(spec: Readonly<Record<string, unknown>>, phase = 'Running'): KubeObject {
  return {
    metadata: { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
    spec: { nodeName: 'n1', ...spec },
    status: { phase },
  }
}

function read(object: KubeObject) {
  const requests = toPodRequests(object)
  return (
    requests && {
      node: requests.node,
      cpu: formatQuantity(requests.cpuRequests),
      cpuLimit: formatQuantity(requests.cpuLimits),
      memory: formatQuantity(requests.memoryRequests),
      memoryLimit: formatQuantity(requests.memoryLimits),
    }
  )
}

describe('toPodRequests', () => {
  const none = { node: 'n1', cpu: '0', cpuLimit: '0', memory: '0', memoryLimit: '0' }
  type Row = readonly [string, Readonly<Record<string, unknown>>, Partial<typeof none>]
  const table: readonly Row[] = [
    ['no containers', {}, {}],
    ['containers without resources', { containers: [{}, { resources: {} }, { resources: null }] }, {}],
    [
      'the sum of the containers',
      {
        containers: [
          container({ cpu: '100m', memory: '1Gi' }, { cpu: '1' }),
          container({ cpu: 1, memory: '512Mi' }, { cpu: '500m', memory: '2Gi' }),
        ],
      },
      { cpu: '1100m', memory: '1536Mi', cpuLimit: '1500m', memoryLimit: '2Gi' },
    ],
    [
      'an init container with smaller requests',
      { containers: [container({ cpu: '2' })], initContainers: [container({ cpu: '1' })] },
      { cpu: '2' },
    ],
    [
      'the largest init container, not their sum',
      {
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '2' }), container({ cpu: '3' })],
      },
      { cpu: '3' },
    ],
    [
      'each resource separately',
      {
        containers: [container({ cpu: '1', memory: '4Gi' })],
        initContainers: [container({ cpu: '2', memory: '1Gi' })],
      },
      { cpu: '2', memory: '4Gi' },
    ],
    [
      'a sidecar next to the containers',
      { containers: [container({ cpu: '1' })], initContainers: [sidecar({ cpu: '500m' })] },
      { cpu: '1500m' },
    ],
    [
      'a sidecar next to the init containers after it',
      {
        containers: [container({ cpu: '1' })],
        initContainers: [sidecar({ cpu: '500m' }), container({ cpu: '2' })],
      },
      { cpu: '2500m' },
    ],
    [
      'no sidecar next to the init containers before it',
      {
        containers: [container({ cpu: '1' })],
        initContainers: [container({ cpu: '2' }), sidecar({ cpu: '500m' })],
      },
      { cpu: '2' },
    ],
    [
      'several sidecars that start one after another',
      {
        containers: [container({ cpu: '100m' })],
        initContainers: [sidecar({ cpu: '1' }), container({ cpu: '1' }), sidecar({ cpu: '2' })],
      },
      { cpu: '3100m' },
    ],
    [
      'overhead on top of requests',
      { containers: [container({ cpu: '1', memory: '1Gi' })], overhead: { cpu: '250m', memory: '64Mi' } },
      { cpu: '1250m', memory: '1088Mi' },
    ],
    [
      'adds overhead only to existing limits',
      { containers: [container({}, { cpu: '1' })], overhead: { cpu: '250m', memory: '64Mi' } },
      { cpu: '250m', memory: '64Mi', cpuLimit: '1250m', memoryLimit: '0' },
    ],
    [
      "the pod's own resources instead of the containers'",
      {
        containers: [container({ cpu: '1', memory: '1Gi' }, { cpu: '1' })],
        initContainers: [container({ cpu: '9' })],
        resources: { requests: { cpu: '2' }, limits: { cpu: '3' } } satisfies Lists,
      },
      { cpu: '2', memory: '1Gi', cpuLimit: '3' },
    ],
    [
      "overhead on top of the pod's own resources",
      { resources: { requests: { cpu: '2' } } satisfies Lists, overhead: { cpu: '100m' } },
      { cpu: '2100m' },
    ],
    [
      'malformed quantities as zero',
      { containers: 'x', initContainers: { a: 1 }, overhead: [], resources: 7 },
      {},
    ],
  ]
  for (const [what, spec, expected] of table) {
    it(`counts ${what}`, () => {
      expect(read(pod(spec))).to.deep.equal({ ...none, ...expected })
    })
  }

  const containers = [container({ cpu: '1' })]
  for (const phase of ['Pending', 'Running', 'Unknown', '']) {
    it(`counts a pod in phase ${JSON.stringify(phase)}`, () => {
      expect(read(pod({ containers }, phase))?.cpu).to.equal('1')
    })
  }
  for (const phase of ['Succeeded', 'Failed']) {
    it(`does not count a pod in phase ${phase}`, () => {
      expect(toPodRequests(pod({ containers }, phase))).to.equal(undefined)
    })
  }
  for (const nodeName of [undefined, '', 7]) {
    it(`does not count a pod whose node is ${JSON.stringify(nodeName)}`, () => {
      expect(toPodRequests(pod({ containers, nodeName }))).to.equal(undefined)
    })
  }
})
