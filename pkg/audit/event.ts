import type { Status } from '../apierrors/status.ts'
import type { Identity } from '../apirequest/identity/identity.ts'
import type { Exchange } from '../apirequest/request-context.ts'
import type { Level, Stage } from './policy.ts'
import { redactedUri } from './redact.ts'

/** The data of a request at one audit stage. */
export type AuditedRequest = {
  readonly exchange: Exchange
  readonly level: Level
  readonly receivedAt: Date
  readonly at: Date
  readonly stage: Stage
  readonly identity: Identity | undefined
  /** The user that the caller impersonates. */
  readonly impersonated: Identity | undefined
  readonly sourceIPs: readonly string[]
  readonly code: number | undefined
  readonly failure: Status | undefined
  /** JSON text on one line. */
  readonly requestObject?: string | undefined
  readonly responseObject?: string | undefined
  readonly annotations: Readonly<Record<string, string>>
}

/** Returns an Event of audit.k8s.io/v1 as a line of JSON, in kube-apiserver's field order. */
export function toEvent(audited: AuditedRequest): string {
  const { exchange, identity, impersonated, code } = audited
  const { req, info, id, isSubrequest, rawPath, rawQuery } = exchange
  const uri = isSubrequest === undefined ? (req.url ?? '') : `${rawPath}?${rawQuery}`
  const annotations = { ...audited.annotations, ...(info.cluster && { 'kapis.io/cluster': info.cluster }) }
  const userAgent = req.headers['user-agent']
  const before = {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: audited.level,
    auditID: id,
    stage: audited.stage,
    requestURI: redactedUri(uri),
    verb: info.verb,
    user: identity === undefined ? {} : toUserInfo(identity),
    ...(impersonated === undefined ? {} : { impersonatedUser: toUserInfo(impersonated) }),
    sourceIPs: audited.sourceIPs,
    // Truncated: clients choose the header, and long values would fill the audit log.
    ...(userAgent === undefined ? {} : { userAgent: userAgent.slice(0, 1_024) }),
    ...(info.isResource ? { objectRef: toReference(exchange) } : {}),
    ...(code === undefined ? {} : { responseStatus: toResponseStatus(code, audited.failure) }),
  }
  const after = {
    requestReceivedTimestamp: toMicroTime(audited.receivedAt),
    stageTimestamp: toMicroTime(audited.at),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
  const { requestObject, responseObject } = audited
  return [
    JSON.stringify(before).slice(0, -1),
    ...(requestObject === undefined ? [] : [`"requestObject":${requestObject}`]),
    ...(responseObject === undefined ? [] : [`"responseObject":${responseObject}`]),
    JSON.stringify(after).slice(1),
  ].join(',')
}

function toUserInfo({ username, uid, groups, extra }: Identity): object {
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

function toReference({ info }: Exchange): object {
  const { resource, namespace, name, group, version, subresource } = info
  const members = { resource, namespace, name, apiGroup: group, apiVersion: version, subresource }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''))
}

function toResponseStatus(code: number, failure: Status | undefined): object {
  if (failure === undefined) return { metadata: {}, code }
  const { message, reason } = failure
  return { metadata: {}, status: 'Failure', message, reason, code }
}

/** Formats a metav1.MicroTime: RFC 3339 with six fractional digits, the last three 0. */
function toMicroTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z')
}
