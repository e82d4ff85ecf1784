import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'

type Members = Readonly<Record<string, unknown>>

/** The columns READY, STATUS and RESTARTS of kubectl. */
export type PodStatus = {
  readonly reason: string
  readonly ready: number
  readonly containers: number
  readonly restarts: number
  /** Time at which a container last terminated before it was restarted; '' without restarts. */
  readonly restartedAt: string
}

const finalPhases = new Set(['Succeeded', 'Failed'])

/**
 * Returns the status of a pod by the rules of the pod printer of kube-apiserver, including sidecars
 * (KEP-753) and scheduling gates.
 */
export function toPodStatus(pod: KubeObject): PodStatus {
  const spec = fieldsOf(pod.spec)
  const status = fieldsOf(pod.status)
  const sidecars = new Set(
    itemsOf(spec.initContainers)
      .map(fieldsOf)
      .filter(container => container.restartPolicy === 'Always')
      .map(container => textOf(container.name)),
  )
  const conditions = itemsOf(status.conditions).map(fieldsOf)
  const init = readInit(itemsOf(status.initContainerStatuses).map(fieldsOf), sidecars, {
    total: itemsOf(spec.initContainers).length,
  })
  const main = itemsOf(status.containerStatuses).map(fieldsOf)
  const isInitialized = init.reason === '' || has(conditions, 'Initialized', 'True')
  const phase = textOf(status.reason) || textOf(status.phase)
  const isGated = conditions.some(c => c.type === 'PodScheduled' && c.reason === 'SchedulingGated')
  const before = init.reason || (isGated ? 'SchedulingGated' : phase)
  const ready = main.filter(c => c.ready === true && stateOf(c).running !== undefined).length
  const counted = isInitialized ? [...sidecarsOf(init.statuses, sidecars), ...main] : [...init.statuses]
  return {
    reason: atTheEnd(pod, status, isInitialized ? readMain(main, conditions, before) : before),
    ready: (isInitialized ? ready : 0) + init.ready,
    containers: itemsOf(spec.containers).length + sidecars.size,
    restarts: counted.reduce((sum, c) => sum + (typeof c.restartCount === 'number' ? c.restartCount : 0), 0),
    restartedAt: counted.map(lastEnd).sort().at(-1) ?? '',
  }
}

function readInit(statuses: readonly Members[], sidecars: ReadonlySet<string>, { total }: { total: number }) {
  let ready = 0
  for (const [i, status] of statuses.entries()) {
    const { terminated, waiting } = statesOf(status)
    if (terminated && (terminated.exitCode ?? 0) === 0) continue
    if (sidecars.has(textOf(status.name)) && status.started === true) {
      if (status.ready === true) ready++
      continue
    }
    const reason = terminated
      ? `Init:${endOf(terminated)}`
      : waiting && textOf(waiting.reason) !== '' && waiting.reason !== 'PodInitializing'
        ? `Init:${textOf(waiting.reason)}`
        : `Init:${i}/${total}`
    return { reason, ready, statuses }
  }
  return { reason: '', ready, statuses }
}

function readMain(statuses: readonly Members[], conditions: readonly Members[], before: string): string {
  let reason = before
  let isRunning = false
  // Like the printer, goes from the last container to the first, which takes precedence.
  for (const status of [...statuses].reverse()) {
    const { terminated, waiting, running } = statesOf(status)
    if (waiting && textOf(waiting.reason) !== '') reason = textOf(waiting.reason)
    else if (terminated) reason = endOf(terminated)
    else if (status.ready === true && running) isRunning = true
  }
  if (reason !== 'Completed' || !isRunning) return reason
  return has(conditions, 'Ready', 'True') ? 'Running' : 'NotReady'
}

function atTheEnd(pod: KubeObject, status: Members, reason: string): string {
  if (pod.metadata.deletionTimestamp === undefined) return reason
  if (status.reason === 'NodeLost') return 'Unknown'
  return finalPhases.has(textOf(status.phase)) ? reason : 'Terminating'
}

function endOf(terminated: Members): string {
  const reason = textOf(terminated.reason)
  if (reason !== '') return reason
  const { signal, exitCode } = terminated
  return signal !== undefined && signal !== 0 ? `Signal:${textOf(signal)}` : `ExitCode:${textOf(exitCode)}`
}

function stateOf(status: Members): Members {
  return fieldsOf(status.state)
}

function statesOf(status: Members) {
  const { terminated, waiting, running } = stateOf(status)
  return {
    terminated: terminated === undefined ? undefined : fieldsOf(terminated),
    waiting: waiting === undefined ? undefined : fieldsOf(waiting),
    running,
  }
}

function sidecarsOf(statuses: readonly Members[], sidecars: ReadonlySet<string>): readonly Members[] {
  return statuses.filter(status => sidecars.has(textOf(status.name)))
}

function lastEnd(status: Members): string {
  return textOf(fieldsOf(fieldsOf(status.lastState).terminated).finishedAt)
}

function has(conditions: readonly Members[], type: string, value: string): boolean {
  return conditions.some(condition => condition.type === type && condition.status === value)
}
