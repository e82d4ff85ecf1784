import { badRequest, Status } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { sendJson } from '../../httpserver/response/respond.ts'
import { addWarning } from '../../httpserver/response/warning.ts'
import { exportHits } from '../../logs/export-records.ts'
import { allOf, type Expression, isOneOf } from '../../logs/filter/expression.ts'
import type { LogFilter } from '../../logs/filter/filter.ts'
import type { Hit, LogStore, QueryLimits } from '../../logs/store.ts'
import { withAbortOnDisconnect } from './abort-on-disconnect.ts'
import { type CallerViewOptions, openCallerView } from './caller-view.ts'
import { type PodLogOptions, parsePodLogOptions } from './pod-log-options.ts'
import { sendPages } from './send-pages.ts'

type Source = {
  readonly store: LogStore
  readonly limits: QueryLimits
  /** Maximum number of lines in a response. */
  readonly exportLimit: number
  /** Returns a filter for an expression, restricted to the scope of the caller. */
  readonly filter: (expression: Expression, startNs?: bigint) => LogFilter
}

// Maximum number of containers, since each requires a query.
const maxContainers = 32
const narrowBy = 'tailLines or sinceTime (--tail or --since-time of kubectl)'

/**
 * Serves `kubectl logs` of a deleted pod from the log store. It serves the log (`pods/{name}/log`),
 * and for kubectl, which reads the pod first, a Pod with the containers that have lines. Callers
 * see the same lines as with the log API.
 *
 * @returns whether a response was sent
 * @throws Status 400 and 422 as in kube-apiserver, and 400 for a log of more than `exportLimit`
 * lines
 */
export function createDeletedPodLogs(
  options: CallerViewOptions,
): (exchange: AuthenticatedExchange) => Promise<boolean> {
  return async exchange => {
    let isAnswered = false
    await withAbortOnDisconnect(exchange, async signal => {
      const where = { namespaces: [exchange.info.namespace] }
      const view = await openCallerView(exchange, where, signal, options)
      const scope = view.filter
      if (scope === undefined) return
      const filter: Source['filter'] = (expression, startNs) => ({
        ...scope,
        expression: allOf([scope.expression, expression]),
        startNs,
      })
      const { limits, exportLimit } = view
      isAnswered = await respond(exchange, { store: view.checked(), limits, exportLimit, filter })
    }).catch(error => {
      // If the store is not available, the 404 of kube-apiserver is sent, with a warning.
      if (!(error instanceof Status) || error.code < 429 || exchange.res.headersSent) throw error
      addWarning(exchange.res, `the log store cannot be searched for this pod: ${error.message}`)
    })
    return isAnswered
  }
}

/** Returns whether {@link createDeletedPodLogs} handles a request. */
export function isPodLogRequest({ req, info }: AuthenticatedExchange): boolean {
  if (req.method !== 'GET' || info.prefix !== 'api' || info.resource !== 'pods') return false
  if (!info.isInNamespace || info.verb !== 'get') return false
  if (info.subresource === 'log') return info.parts.length === 5
  // This header contains the kubectl command (KEP-859): only `kubectl logs` needs the Pod.
  return info.parts.length === 4 && req.headers['kubectl-command'] === 'kubectl logs'
}

async function respond(exchange: AuthenticatedExchange, source: Source): Promise<boolean> {
  const { info, query, res } = exchange
  const { namespace, name: pod } = info
  const options = info.subresource === '' ? undefined : parsePodLogOptions(query, pod, Date.now())
  const found = await containersOf(pod, source, options?.container ?? '')
  const [newest] = found
  if (newest === undefined) return false
  const names = found.map(({ record }) => record.container).toSorted()
  addWarning(res, `pod "${pod}" no longer exists; the lines are from the log store`)
  if (options === undefined) {
    const { host: nodeName } = newest.record
    sendJson(res, 200, {
      ...{ kind: 'Pod', apiVersion: 'v1', metadata: { name: pod, namespace } },
      spec: { nodeName, containers: names.map(name => ({ name })) },
      status: { phase: 'Unknown' },
    })
    return true
  }
  if (found.length > 1) {
    throw badRequest(`a container name must be specified for pod ${pod}, choose one of: [${names.join(' ')}]`)
  }
  const { container } = newest.record
  const instance = await findInstance(newest, source, options.previous)
  if (instance === undefined) {
    throw badRequest(`previous terminated container "${container}" in pod "${pod}" not found`)
  }
  await sendLog(exchange, source, instance, options)
  return true
}

/** Returns the newest record of each container of a pod, or of the given one; the newest first. */
async function containersOf(pod: string, source: Source, container: string): Promise<readonly Hit[]> {
  const found: Hit[] = []
  const ofPod = isOneOf('pod', [pod])
  while (found.length < maxContainers) {
    const names = found.map(({ record }) => record.container)
    const named = isOneOf('container', container === '' ? names : [container])
    const other: Expression = container === '' ? { op: 'not', operand: named } : named
    const hit = await findNewest(source, names.length === 0 && container === '' ? [ofPod] : [ofPod, other])
    if (hit === undefined) break
    found.push(hit)
    if (container !== '') break
  }
  return found
}

/**
 * Selects the lines of the last instance of a container, or of the previous one. Lines without a
 * container ID count as one instance.
 */
async function findInstance(
  newest: Hit,
  source: Source,
  previous: boolean,
): Promise<readonly Expression[] | undefined> {
  const { pod, container, dockerId } = newest.record
  const named = [isOneOf('pod', [pod]), isOneOf('container', [container])]
  const last = isOneOf('dockerId', [dockerId])
  if (!previous) return [...named, last]
  const before = await findNewest(source, [...named, { op: 'not', operand: last }])
  return before && [...named, isOneOf('dockerId', [before.record.dockerId])]
}

async function findNewest({ store, limits, filter }: Source, operands: readonly Expression[]) {
  const query = { order: 'desc', size: 1, start: { from: 0 }, withTotal: false } as const
  const { hits } = await store.query({ ...query, filter: filter({ op: 'and', operands }) }, limits)
  return hits[0]
}

/** Writes the lines in the format of the kubelet, oldest first. */
async function sendLog(
  exchange: AuthenticatedExchange,
  { store, limits, exportLimit, filter }: Source,
  instance: readonly Expression[],
  { stream, sinceNs, tailLines, limitBytes, timestamps }: PodLogOptions,
): Promise<void> {
  const ofStream = stream === 'All' ? [] : [isOneOf({ field: 'stream' }, [stream.toLowerCase()])]
  const expression: Expression = { op: 'and', operands: [...instance, ...ofStream] }
  const isTail = tailLines !== undefined && tailLines <= exportLimit
  const limit = isTail ? Number.POSITIVE_INFINITY : exportLimit
  const read = (order: 'asc' | 'desc', startNs: bigint | undefined) =>
    exportHits(store, { filter: filter(expression, startNs), order, limit, narrowBy }, limits)
  const first = tailLines === undefined ? undefined : await findTail(read('desc', sinceNs), tailLines)
  const pages = tailLines === 0 ? undefined : read('asc', first?.record.timeNs ?? sinceNs)
  async function* toBytes(): AsyncGenerator<Buffer> {
    let isBefore = first !== undefined
    let left = limitBytes ?? Number.POSITIVE_INFINITY
    for await (const hits of pages ?? []) {
      const lines = hits.filter(({ cursor }) => {
        isBefore &&= cursor !== first?.cursor
        return !isBefore
      })
      const bytes = Buffer.from(lines.map(hit => formatLine(hit, timestamps)).join(''))
      yield bytes.subarray(0, left)
      left -= bytes.length
      if (left <= 0) return
    }
  }
  await sendPages(exchange, { 'content-type': 'text/plain' }, toBytes(), bytes => bytes)
}

/** Returns the first of the last `count` records; undefined if there are not that many. */
async function findTail(pages: AsyncIterable<readonly Hit[]>, count: number): Promise<Hit | undefined> {
  let left = count
  for await (const hits of pages) {
    if (left <= hits.length) return hits[left - 1]
    left -= hits.length
  }
  return undefined
}

function formatLine({ record }: Hit, withTime: boolean): string {
  const end = record.log.endsWith('\n') ? '' : '\n'
  return `${withTime ? `${formatFixedTime(record.timeNs)} ` : ''}${record.log}${end}`
}

/** Formats a time like the kubelet: RFC 3339 in UTC with nine fractional digits. */
function formatFixedTime(timeNs: bigint): string {
  const seconds = new Date(Number(timeNs / 1_000_000n)).toISOString().slice(0, 19)
  return `${seconds}.${String(timeNs % 1_000_000_000n).padStart(9, '0')}Z`
}
