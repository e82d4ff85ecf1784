import { itemsOf, type KubeObject, membersOf, textOf } from '../../kube/object.ts'
import { oneOf } from '../filters.ts'
import type { Traits } from '../kind.ts'

const words = ['stopped', 'running', 'updating']

/** Stopped without replicas, running when all that there are are ready, else updating. */
export const deployments: Traits = {
  toFacts(object) {
    const status = membersOf(object.status)
    const ready = count(status.readyReplicas)
    const all = count(status.replicas)
    return {
      status: ready === 0 && all === 0 ? 'stopped' : ready === all ? 'running' : 'updating',
      cells: [],
      values: {},
      updated: latest(object, 'lastUpdateTime'),
    }
  },
  filters: { status: oneOf('status', words) },
}

/** The same against what is wanted. */
export const replicated: Traits = {
  toFacts(object) {
    const ready = count(membersOf(object.status).readyReplicas)
    const wanted = membersOf(object.spec).replicas
    // 3.4 calls a set that does not say how many it wants stopped; Kubernetes fills the 1 in.
    return { status: toWord(ready, count(wanted)), cells: [], values: {} }
  },
  filters: { status: oneOf('status', words) },
}

export const daemonSets: Traits = {
  toFacts(object) {
    const { numberReady, desiredNumberScheduled } = membersOf(object.status)
    return { status: toWord(count(numberReady), count(desiredNumberScheduled)), cells: [], values: {} }
  },
  filters: { status: oneOf('status', words) },
}

export const jobs: Traits = {
  toFacts(object) {
    const conditions = itemsOf(membersOf(object.status).conditions).map(membersOf)
    const is = (type: string) => conditions.some(c => c.type === type && c.status === 'True')
    return {
      status: is('Failed') ? 'failed' : is('Complete') ? 'completed' : 'running',
      cells: [],
      values: {},
      updated: latest(object, 'lastTransitionTime'),
    }
  },
  filters: { status: oneOf('status', ['completed', 'failed', 'running']) },
}

export const cronJobs: Traits = {
  toFacts: object => ({
    status: membersOf(object.spec).suspend === true ? 'paused' : 'running',
    cells: [],
    values: {},
  }),
  filters: { status: oneOf('status', ['paused', 'running']) },
}

function toWord(ready: number, wanted: number): string {
  if (ready === 0 && wanted === 0) return 'stopped'
  return ready === wanted ? 'running' : 'updating'
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

function latest(object: KubeObject, member: string): string {
  const times = itemsOf(membersOf(object.status).conditions).map(c => textOf(membersOf(c)[member]))
  return times.sort().at(-1) || object.metadata.creationTimestamp
}
