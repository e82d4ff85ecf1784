import { expect } from 'chai'
import type { KubeObject } from '../../kubeclient/object/object.ts'
import { toPodStatus } from './pod-status.ts'
import { claimsOf, pods } from './pods.ts'

type Parts = { readonly spec?: object; readonly status?: object; readonly deleted?: boolean }

function pod({ spec = {}, status = {}, deleted = false }: Parts): KubeObject {
  return {
    metadata: {
      name: 'p',
      namespace: 'ns',
      uid: 'u',
      resourceVersion: '1',
      creationTimestamp: '2031-01-01T00:00:00Z',
      ...(deleted ? { deletionTimestamp: '2031-01-02T00:00:00Z' } : {}),
    },
    spec: { containers: [{ name: 'c' }], ...spec },
    status,
  }
}

const running = { name: 'c', ready: true, restartCount: 0, state: { running: {} } }
const waiting = (reason: string) => ({
  name: 'c',
  ready: false,
  restartCount: 2,
  state: { waiting: { reason } },
})
const ended = (terminated: object) => ({ name: 'c', ready: false, restartCount: 0, state: { terminated } })
const isReady = [{ type: 'Ready', status: 'True' }]

describe('a pod', () => {
  // A pod, its STATUS column, and its status in the platform API.
  const table: readonly [string, Parts, string, string][] = [
    [
      'runs',
      { status: { phase: 'Running', conditions: isReady, containerStatuses: [running] } },
      'Running',
      'Running',
    ],
    ['is not scheduled yet', { status: { phase: 'Pending' } }, 'Pending', 'Waiting'],
    [
      'has a scheduling gate',
      {
        status: {
          phase: 'Pending',
          conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
        },
      },
      'SchedulingGated',
      'Waiting',
    ],
    [
      'crashes repeatedly',
      { status: { phase: 'Running', containerStatuses: [waiting('CrashLoopBackOff')] } },
      'CrashLoopBackOff',
      'Waiting',
    ],
    [
      'has failed',
      { status: { phase: 'Failed', containerStatuses: [ended({ reason: 'Error', exitCode: 1 })] } },
      'Error',
      'Error',
    ],
    ['was evicted', { status: { phase: 'Failed', reason: 'Evicted' } }, 'Evicted', 'Waiting'],
    ['was rejected by the node', { status: { phase: 'Failed', reason: 'OutOfcpu' } }, 'OutOfcpu', 'Error'],
    ['has failed without a reason', { status: { phase: 'Failed' } }, 'Failed', 'Error'],
    [
      'was killed',
      { status: { phase: 'Failed', containerStatuses: [ended({ exitCode: 137, signal: 9 })] } },
      'Signal:9',
      'Waiting',
    ],
    [
      'ended with an exit code',
      { status: { phase: 'Failed', containerStatuses: [ended({ exitCode: 3 })] } },
      'ExitCode:3',
      'Waiting',
    ],
    [
      'has succeeded',
      { status: { phase: 'Succeeded', containerStatuses: [ended({ reason: 'Completed', exitCode: 0 })] } },
      'Completed',
      'Completed',
    ],
    [
      'has succeeded, by its condition',
      {
        status: {
          phase: 'Succeeded',
          conditions: [{ type: 'Ready', status: 'False', reason: 'PodCompleted' }],
        },
      },
      'Succeeded',
      'Completed',
    ],
    [
      'has succeeded, without the condition',
      { status: { phase: 'Succeeded', conditions: [{ type: 'Ready', status: 'False', reason: 'Other' }] } },
      'Succeeded',
      'Waiting',
    ],
    [
      'has one completed and one running container',
      {
        status: {
          phase: 'Running',
          conditions: isReady,
          containerStatuses: [ended({ reason: 'Completed', exitCode: 0 }), running],
        },
      },
      'Running',
      'Running',
    ],
    [
      'is not ready with one completed container',
      {
        status: {
          phase: 'Running',
          containerStatuses: [ended({ reason: 'Completed', exitCode: 0 }), running],
        },
      },
      'NotReady',
      'Waiting',
    ],
    [
      'runs its second init container',
      {
        spec: { initContainers: [{ name: 'i' }, { name: 'j' }] },
        status: {
          phase: 'Pending',
          initContainerStatuses: [
            { name: 'i', state: { terminated: { exitCode: 0 } } },
            { name: 'j', state: { running: {} } },
          ],
        },
      },
      'Init:1/2',
      'Waiting',
    ],
    [
      'has a failed init container',
      {
        spec: { initContainers: [{ name: 'i' }] },
        status: {
          phase: 'Pending',
          initContainerStatuses: [{ name: 'i', state: { terminated: { exitCode: 2 } } }],
        },
      },
      'Init:ExitCode:2',
      'Waiting',
    ],
    [
      'has a sidecar',
      {
        spec: { initContainers: [{ name: 's', restartPolicy: 'Always' }] },
        status: {
          phase: 'Running',
          conditions: isReady,
          initContainerStatuses: [{ name: 's', started: true, ready: true, state: { running: {} } }],
          containerStatuses: [running],
        },
      },
      'Running',
      'Running',
    ],
    [
      'is terminating',
      { deleted: true, status: { phase: 'Running', containerStatuses: [running] } },
      'Terminating',
      'Waiting',
    ],
    [
      'is terminating after its completion',
      { deleted: true, status: { phase: 'Failed', containerStatuses: [ended({ reason: 'Error' })] } },
      'Error',
      'Error',
    ],
    [
      'ran on a lost node',
      { deleted: true, status: { phase: 'Running', reason: 'NodeLost' } },
      'Unknown',
      'Waiting',
    ],
  ]
  for (const [what, parts, reason, word] of table) {
    it(`that ${what} has the reason ${reason} and the status ${word}`, () => {
      expect(toPodStatus(pod(parts)).reason).to.equal(reason)
      expect(pods.toFields(pod(parts)).status).to.equal(word)
    })
  }

  it('has counts of ready containers and restarts, including sidecars', () => {
    const parts = {
      spec: {
        containers: [{ name: 'c' }, { name: 'd' }],
        initContainers: [{ name: 's', restartPolicy: 'Always' }],
      },
      status: {
        phase: 'Running',
        initContainerStatuses: [
          { name: 's', started: true, ready: true, restartCount: 3, state: { running: {} } },
        ],
        containerStatuses: [
          running,
          {
            ...waiting('CrashLoopBackOff'),
            lastState: { terminated: { finishedAt: '2031-01-01T01:00:00Z' } },
          },
        ],
      },
    }
    expect(toPodStatus(pod(parts))).to.include({
      ready: 2,
      containers: 3,
      restarts: 5,
      restartedAt: '2031-01-01T01:00:00Z',
    })
  })

  it('has the claims that it mounts, including ephemeral ones', () => {
    const volumes = [
      { name: 'a', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'b', ephemeral: { volumeClaimTemplate: {} } },
      { name: 'c', emptyDir: {} },
    ]
    expect(claimsOf(pod({ spec: { volumes } }))).to.deep.equal(['data', 'p-b'])
  })
})
