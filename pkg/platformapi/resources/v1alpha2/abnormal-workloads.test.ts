import { expect } from 'chai'
import type { KubeObject } from '../../../kubeclient/object/object.ts'
import { replaceAll, servedNodes } from '../../../resourcecache/fixtures.ts'
import type { KindOptions } from '../../../resourcecache/kind.ts'
import { volumes } from '../../../resourcecache/kinds/storage.ts'
import { deployments, jobs, replicated } from '../../../resourcecache/kinds/workloads.ts'
import { ObjectStore } from '../../../resourcecache/store/store.ts'
import { countAbnormal } from './abnormal-workloads.ts'

const failed = { conditions: [{ type: 'Failed', status: 'True' }] }
const complete = { conditions: [{ type: 'Complete', status: 'True' }] }
const held: Readonly<Record<string, readonly [KindOptions, ...KubeObject[]]>> = {
  deployments: [
    deployments,
    object('a', 'updating', {}, { replicas: 2, readyReplicas: 1 }),
    object('a', 'running', {}, { replicas: 2, readyReplicas: 2 }),
    object('b', 'updating', {}, { replicas: 1 }),
  ],
  statefulsets: [replicated, object('a', 'stopped', { replicas: 0 }, {})],
  daemonsets: [replicated],
  persistentvolumeclaims: [
    volumes,
    ...['Pending', 'Lost', 'Bound'].map(phase => object('a', phase, {}, { phase })),
  ],
  jobs: [jobs, object('b', 'failed', {}, failed), object('b', 'completed', {}, complete)],
}

async function read(plural: string): Promise<ObjectStore> {
  const [options, ...items] = held[plural] ?? []
  if (options === undefined) throw new Error(`${plural} is not read`)
  const kind = { ...servedNodes.kind, ...options, columns: [], plural, namespaced: true }
  const store = new ObjectStore({ ...servedNodes, kind })
  replaceAll(store, items, '10')
  return store
}

function object(namespace: string, name: string, spec: object, status: object): KubeObject {
  const metadata = {
    name: name.toLowerCase(),
    namespace,
    uid: `${namespace}-${name}`,
    resourceVersion: '1',
    creationTimestamp: '2031-05-06T07:08:09Z',
  }
  return { kind: 'Any', apiVersion: 'v1', metadata, spec, status }
}

describe('countAbnormal', () => {
  const cases = {
    '': { deployments: 2, statefulsets: 0, daemonsets: 0, persistentvolumeclaims: 2, jobs: 1 },
    a: { deployments: 1, statefulsets: 0, daemonsets: 0, persistentvolumeclaims: 2, jobs: 0 },
    b: { deployments: 1, statefulsets: 0, daemonsets: 0, persistentvolumeclaims: 0, jobs: 1 },
    none: { deployments: 0, statefulsets: 0, daemonsets: 0, persistentvolumeclaims: 0, jobs: 0 },
  }
  for (const [namespace, counts] of Object.entries(cases)) {
    it(`counts workloads of ${namespace || 'the whole cluster'}`, async () => {
      expect(await countAbnormal(read, namespace)).to.deep.equal(counts)
    })
  }
})
