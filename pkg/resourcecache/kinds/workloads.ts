import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import { type Cell, column, integerColumn, type KindOptions } from '../kind.ts'
import { oneOf } from '../list/filters.ts'

const words = ['stopped', 'running', 'updating']

/** Status: `stopped` without replicas, `running` if all are ready, else `updating`. */
export const deployments: KindOptions = {
  columns: [
    column('Name', 0, 'Name of the deployment, unique in its namespace.', 'name'),
    column('Ready', 0, 'Ready pods, of the desired number.'),
    integerColumn('Up-to-date', 0, 'Pods of the latest template.'),
    integerColumn('Available', 0, 'Pods that have been ready for long enough.'),
    column('Age', 0, 'Time since the deployment was created.'),
    column('Containers', 1, 'Names of the containers.'),
    column('Images', 1, 'Images of the containers.'),
    column('Selector', 1, 'Label selector of the pods.'),
    column('State', 1, 'running, updating or stopped.'),
    column('Updated', 1, 'Time since the conditions last changed.'),
  ],
  toFields(object) {
    const status = fieldsOf(object.status)
    const ready = count(status.readyReplicas)
    const all = count(status.replicas)
    const word = ready === 0 && all === 0 ? 'stopped' : ready === all ? 'running' : 'updating'
    const updated = latest(object, 'lastUpdateTime')
    return {
      status: word,
      cells: [...toDeploymentCells(object), word, { since: updated }],
      values: {},
      updated,
    }
  },
  filters: { status: oneOf('status', words) },
}

/** Like `deployments`, but the ready replicas are compared with the desired number. */
export const replicated: KindOptions = {
  toFields(object) {
    const ready = count(fieldsOf(object.status).readyReplicas)
    const desired = fieldsOf(object.spec).replicas
    // As in KubeSphere 3.4, a missing number means stopped, although Kubernetes defaults to 1.
    return { status: toWord(ready, count(desired)), cells: [], values: {} }
  },
  filters: { status: oneOf('status', words) },
}

export const daemonSets: KindOptions = {
  toFields(object) {
    const { numberReady, desiredNumberScheduled } = fieldsOf(object.status)
    return { status: toWord(count(numberReady), count(desiredNumberScheduled)), cells: [], values: {} }
  },
  filters: { status: oneOf('status', words) },
}

export const jobs: KindOptions = {
  toFields(object) {
    const conditions = itemsOf(fieldsOf(object.status).conditions).map(fieldsOf)
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

export const cronJobs: KindOptions = {
  toFields: object => ({
    status: fieldsOf(object.spec).suspend === true ? 'paused' : 'running',
    cells: [],
    values: {},
  }),
  filters: { status: oneOf('status', ['paused', 'running']) },
}

function toDeploymentCells(object: KubeObject): readonly Cell[] {
  const spec = fieldsOf(object.spec)
  const status = fieldsOf(object.status)
  const template = fieldsOf(fieldsOf(spec.template).spec)
  const containers = itemsOf(template.containers).map(fieldsOf)
  const joined = (member: string) => containers.map(container => textOf(container[member])).join(',')
  return [
    object.metadata.name,
    `${count(status.readyReplicas)}/${count(spec.replicas)}`,
    count(status.updatedReplicas),
    count(status.availableReplicas),
    { since: object.metadata.creationTimestamp },
    joined('name'),
    joined('image'),
    toSelectorText(fieldsOf(spec.selector)),
  ]
}

/** Formats a metav1.LabelSelector like kubectl. */
function toSelectorText({ matchLabels, matchExpressions }: Readonly<Record<string, unknown>>): string {
  const labels = Object.entries(fieldsOf(matchLabels)).map(([key, value]) => `${key}=${textOf(value)}`)
  const expressions = itemsOf(matchExpressions)
    .map(fieldsOf)
    .map(({ key, operator, values }) => {
      if (operator === 'Exists') return textOf(key)
      if (operator === 'DoesNotExist') return `!${textOf(key)}`
      const word = operator === 'NotIn' ? 'notin' : 'in'
      return `${textOf(key)} ${word} (${itemsOf(values).map(textOf).sort().join(',')})`
    })
  return [...labels, ...expressions].sort().join(',') || '<none>'
}

function toWord(ready: number, desired: number): string {
  if (ready === 0 && desired === 0) return 'stopped'
  return ready === desired ? 'running' : 'updating'
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

function latest(object: KubeObject, member: string): string {
  const times = itemsOf(fieldsOf(object.status).conditions).map(c => textOf(fieldsOf(c)[member]))
  return times.sort().at(-1) || object.metadata.creationTimestamp
}
