import { X509Certificate } from 'node:crypto'
import { isStatus, Status } from '../../apierrors/status.ts'
import { readUnverified } from '../../jwt/assertion.ts'
import type { KubeClient } from '../../kubeclient/client.ts'
import type { Access } from '../../kubeclient/config/rest-config.ts'
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../kubeclient/object/object.ts'
import type { HeaderLines } from '../headers.ts'
import { upstreamFailure } from '../upstream-failure.ts'

/** A condition of a Cluster, without its timestamps. */
export type Condition = {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** The result of a check. Missing fields keep their previous value. */
export type Health = {
  readonly conditions: readonly Condition[]
  readonly fields: Readonly<Record<string, string | number>>
}

export type CheckedCluster = {
  readonly kube: KubeClient
  /** Client of the Kapis in the cluster, or why there is none; undefined to skip this check. */
  readonly kapis?: KubeClient | { readonly problem: string }
  /** uid of this cluster, which a member cluster must not have. */
  readonly otherThan?: string | undefined
  /** The credential of the kubeconfig, whose dates may explain a rejection. */
  readonly credential?: Access
}

const timeoutMs = 5_000
const withinMs = 10_000
// A node with many images has some hundred KiB.
const maxBytes = 4 * 1024 * 1024
const maxText = 1_000
const regionLabel = 'topology.kubernetes.io/region'

/**
 * Checks a cluster with the credential of its kubeconfig. Reads its version, nodes, and the
 * namespace kube-system, whose uid identifies the cluster.
 *
 * @param headers of each request: name, value, name, value
 */
export async function checkCluster(cluster: CheckedCluster, headers: HeaderLines = []): Promise<Health> {
  const signal = AbortSignal.timeout(withinMs)
  const get = (client: KubeClient, path: string) =>
    client.call({ path, headers, signal, timeoutMs, maxBytes })
  const { kube, kapis, otherThan } = cluster
  try {
    const version = fieldsOf(await get(kube, '/version'))
    if (textOf(version.gitVersion) === '')
      return ready('False', 'FailedCheck', 'the response of /version has no gitVersion')
    const system = await optional(() => get(kube, '/api/v1/namespaces/kube-system'))
    const uid = textOf(fieldsOf(fieldsOf(system).metadata).uid)
    if (uid !== '' && uid === otherThan)
      return ready('False', 'SameCluster', 'the kubeconfig points to this cluster itself')
    const nodes = fieldsOf(await optional(() => get(kube, '/api/v1/nodes?limit=1')))
    const service = kapis === undefined ? undefined : await checkKapis(kapis, get)
    const passed = ready('True', 'Passed', 'the cluster responds')
    return {
      conditions: [...passed.conditions, ...(service?.conditions ?? [])],
      fields: {
        ...knownField('kubernetesVersion', version.gitVersion),
        ...knownField('uid', uid),
        ...nodeFields(nodes),
        ...service?.fields,
      },
    }
  } catch (error) {
    const dates = isStatus(error, 401) && cluster.credential && problemOfDates(cluster.credential)
    return ready('False', 'FailedCheck', `${describe(error)}${dates ? `: ${dates}` : ''}`)
  }
}

/** kube-apiserver sends no reason with a 401. */
function problemOfDates({ tls, headers }: Access, now = new Date()): string | undefined {
  const [, token] = /^Bearer (.+)$/.exec(headers[1] ?? '') ?? []
  // kube-apiserver uses the client certificate even if there is a token.
  if (tls.cert !== undefined) {
    const { validFromDate: from, validToDate: to } = new X509Certificate(String(tls.cert))
    if (to < now) return `its client certificate expired at ${to.toISOString()}`
    if (from > now) return `its client certificate is not valid before ${from.toISOString()}`
  }
  const { exp } = (token !== undefined && readUnverified(token)) || {}
  const end = new Date((exp ?? Number.NaN) * 1000)
  return end < now ? `its token expired at ${end.toISOString()}` : undefined
}

/** Returns a result with only the condition Ready. */
export function ready(status: Condition['status'], reason: string, message: string): Health {
  return { conditions: [{ type: 'Ready', status, reason, message }], fields: {} }
}

async function checkKapis(
  kapis: NonNullable<CheckedCluster['kapis']>,
  get: (client: KubeClient, path: string) => Promise<unknown>,
): Promise<Health> {
  const type = 'KSCoreReady'
  const failed = (message: string): Health => ({
    conditions: [{ type, status: 'False', reason: 'FailedCheck', message }],
    fields: {},
  })
  if ('problem' in kapis) return failed(kapis.problem)
  try {
    const version = fieldsOf(await get(kapis, '/kapis/version'))
    const condition = { type, status: 'True', reason: 'Passed', message: 'its Kapis responds' } as const
    return { conditions: [condition], fields: knownField('kubeSphereVersion', version.gitVersion) }
  } catch (error) {
    return failed(describe(error))
  }
}

function knownField(name: string, value: unknown): Health['fields'] {
  return typeof value === 'string' && value !== '' ? { [name]: value.slice(0, maxText) } : {}
}

function nodeFields({ items, metadata }: Readonly<Record<string, unknown>>): Health['fields'] {
  if (items === undefined) return {}
  const [first] = itemsOf(items)
  const { remainingItemCount: rest = 0 } = fieldsOf(metadata)
  const nodeCount = itemsOf(items).length + (Number.isSafeInteger(rest) ? Math.max(0, Number(rest)) : 0)
  return {
    nodeCount,
    ...knownField('region', fieldsOf(fieldsOf(fieldsOf(first).metadata).labels)[regionLabel]),
  }
}

/** Reads a resource; undefined if the credential has no permission for it, or it does not exist. */
async function optional(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Status && (error.code === 403 || error.code === 404)) return undefined
    throw error
  }
}

function describe(error: unknown): string {
  if (isStatus(error, 401)) return 'the cluster rejects the credential of the kubeconfig'
  // The response was not a Status. The address may be that of any server, so its text is not shown.
  if (error instanceof Status && error.reason === 'InternalError')
    return `the cluster responded with ${error.code}`
  if (error instanceof Status && error.cause === undefined) return error.message.slice(0, maxText)
  const { message, headers } = upstreamFailure('the cluster', error instanceof Status ? error.cause : error)
  return `${message} (${headers['proxy-status']?.split('error=')[1] ?? ''})`
}

/** Returns the status of a Cluster after a check; undefined if nothing has changed. */
export function statusAfter(
  { status }: KubeObject,
  { conditions, fields }: Health,
  now: Date,
): object | undefined {
  const old = fieldsOf(status)
  const before = itemsOf(old.conditions).map(fieldsOf)
  const isSame = ({ type, status: value, reason, message }: Condition) =>
    before.some(
      one => one.type === type && one.status === value && one.reason === reason && one.message === message,
    )
  if (conditions.every(isSame) && Object.entries(fields).every(([name, value]) => old[name] === value))
    return undefined
  const time = now.toISOString().replace(/\.\d+/, '')
  const made = conditions.map(condition => {
    const last = before.find(({ type }) => type === condition.type)
    const isKept = last?.status === condition.status && typeof last.lastTransitionTime === 'string'
    return {
      ...condition,
      lastUpdateTime: isSame(condition) && last !== undefined ? (last.lastUpdateTime ?? time) : time,
      lastTransitionTime: isKept ? last.lastTransitionTime : time,
    }
  })
  const others = before.filter(({ type }) => !conditions.some(one => one.type === type))
  return { ...fields, conditions: [...others, ...made] }
}
