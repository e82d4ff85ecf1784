import { badRequest } from '../../apierrors/status.ts'
import { fieldsOf, itemsOf, textOf } from '../../kubeclient/object/object.ts'
import { allOf } from '../filter/expression.ts'
import { parseTimestamp } from '../ingest/line/timestamp.ts'
import type { LogRecord } from '../record.ts'
import type { EventKind } from './event-kind.ts'
import { hasPart, hasValue, longestEntry, toFields } from './event-record.ts'

/** Audit events (audit.k8s.io/v1): their query parameters in the platform API. */
export const auditEvents: EventKind = {
  namespaces: 'objectref_namespace_filter',
  namespaceParts: 'objectref_namespace_search',
  filters: {
    objectref_name_filter: names => hasValue('name', names),
    objectref_name_search: parts => hasPart('name', parts),
    objectref_resource_filter: resources => hasValue('resource', resources),
    objectref_subresource_filter: subresources => hasValue('subresource', subresources),
    level_filter: levels => hasValue('level', levels),
    verb_filter: verbs => hasValue('verb', verbs),
    user_filter: users => hasValue('user', users),
    user_search: parts => hasPart('user', parts),
    group_search: parts => hasPart('group', parts),
    source_ip_search: parts => hasPart('sourceIP', parts),
    response_code_filter: codes => hasValue('code', codes.map(checkCode)),
    response_status_filter: statuses => hasValue('status', statuses),
  },
  /** Counts requests by their last event. A long-running request counts when it completes. */
  async count(store, filter, limits) {
    const expression = allOf([filter.expression, hasValue('stage', ['ResponseComplete', 'Panic'])])
    const [requests, all] = await Promise.all([
      store.statistics({ ...filter, expression }, limits),
      store.statistics(filter, limits),
    ])
    return { resources: requests.logs, events: all.logs }
  },
}

/**
 * Converts an audit event to a record. Unlike in the audit log, parts that are too long for the
 * store are truncated.
 *
 * @param json the event as a line of JSON
 */
export function toAuditRecord(json: string): LogRecord {
  const rest = fieldsOf(JSON.parse(json))
  const reference = fieldsOf(rest.objectRef)
  const caller = fieldsOf(rest.user)
  const response = fieldsOf(rest.responseStatus)
  const code = textOf(response.code)
  const isFailure = textOf(response.status) === 'Failure' || Number(code) >= 400
  const fields = toFields({
    auditID: textOf(rest.auditID),
    stage: textOf(rest.stage),
    level: textOf(rest.level),
    verb: textOf(rest.verb),
    user: textOf(caller.username),
    group: itemsOf(caller.groups).map(textOf),
    sourceIP: itemsOf(rest.sourceIPs).map(textOf),
    name: textOf(reference.name),
    resource: textOf(reference.resource),
    subresource: textOf(reference.subresource),
    code,
    status: code === '' ? '' : isFailure ? 'Failure' : 'Success',
  })
  const bodies = [json, JSON.stringify(shorten(rest, reference)), JSON.stringify(strip(rest))]
  const namespace = textOf(reference.namespace)
  return {
    timeNs: parseTimestamp(textOf(rest.requestReceivedTimestamp)) ?? 0n,
    log: bodies.find(log => log.length <= longestEntry) ?? '{}',
    // Request paths may contain any text. Events with an invalid namespace are only visible to
    // users who may read all namespaces.
    namespace: /^[a-z0-9-]{1,63}$/.test(namespace) ? namespace : '',
    pod: '',
    container: '',
    host: '',
    dockerId: '',
    fields,
  }
}

type Members = Readonly<Record<string, unknown>>

const longestText = 500
// The annotation by which kube-apiserver marks truncated audit events.
const annotations = { 'audit.k8s.io/truncated': 'true' }

/** Returns the event without bodies, and with long strings truncated. */
function shorten(rest: Members, reference: Members): object {
  const cut = (members: Members) =>
    Object.fromEntries(
      Object.entries(members).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value.slice(0, longestText)]] : [],
      ),
    )
  const { user, impersonatedUser, responseStatus } = rest
  return {
    ...cut(rest),
    user: cut(fieldsOf(user)),
    ...(impersonatedUser === undefined ? {} : { impersonatedUser: cut(fieldsOf(impersonatedUser)) }),
    objectRef: cut(reference),
    responseStatus: { ...cut(fieldsOf(responseStatus)), code: fieldsOf(responseStatus).code },
    annotations,
  }
}

function strip({ kind, apiVersion, auditID, stage, level }: Members): object {
  return { kind, apiVersion, level, auditID, stage, annotations }
}

function checkCode(code: string): string {
  if (/^[1-5]\d\d$/.test(code)) return code
  throw badRequest(
    `response_code_filter must be HTTP status codes, not ${JSON.stringify(code.slice(0, 100))}`,
  )
}
