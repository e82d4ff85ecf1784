import { badRequest, type Cause, invalid } from '../../apierrors/status.ts'
import type { QueryParameters } from './query-parameters.ts'

/** The requested resource version of a list or watch, as in metav1.ListOptions. */
export type VersionQuery = {
  /** '' for the most recent state, '0' for any state. */
  readonly resourceVersion: string
  readonly match: '' | 'Exact' | 'NotOlderThan'
}

type VersionOptions = {
  readonly verb: 'list' | 'watch'
  /** undefined if the parameter is missing. */
  readonly sendInitialEvents: boolean | undefined
}

const listOptionsKind = { group: 'meta.k8s.io', kind: 'ListOptions' }
const maxVersion = 2n ** 64n - 1n

/**
 * Parses resourceVersion and resourceVersionMatch, and validates them with the other parameters.
 * Messages and their order are those of kube-apiserver (ValidateListOptions of apimachinery).
 *
 * @throws Status 400 for an invalid version, 422 for a contradiction
 */
export function parseVersionQuery(query: QueryParameters, options: VersionOptions): VersionQuery {
  const resourceVersion = parseVersion(query)
  const match = query.get('resourceVersionMatch') ?? ''
  const isContinued = (query.get('continue') ?? '') !== ''
  const parameters = { resourceVersion, match, isContinued, sendInitialEvents: options.sendInitialEvents }
  const causes = options.verb === 'watch' ? watchCauses(parameters) : listCauses(parameters)
  if (causes.length > 0) throw invalid(listOptionsKind, causes)
  return { resourceVersion, match: match === 'Exact' || match === 'NotOlderThan' ? match : '' }
}

/** @throws Status 400 */
export function parseVersion(query: QueryParameters): string {
  const text = query.get('resourceVersion') ?? ''
  if (text === '' || (/^(0|[1-9]\d{0,19})$/.test(text) && BigInt(text) <= maxVersion)) return text
  throw badRequest(
    `Invalid value: ${JSON.stringify(text)}: resourceVersion must be a decimal integer without leading zeros`,
  )
}

type VersionParameters = {
  readonly resourceVersion: string
  readonly match: string
  readonly isContinued: boolean
  readonly sendInitialEvents: boolean | undefined
}

const field = 'resourceVersionMatch'
const withContinue = 'resourceVersionMatch is forbidden when continue is provided'

function listCauses({
  resourceVersion,
  match,
  isContinued,
  sendInitialEvents,
}: VersionParameters): readonly Cause[] {
  const causes: Cause[] = []
  if (match !== '') {
    if (resourceVersion === '')
      causes.push(forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (isContinued) causes.push(forbidden(field, withContinue))
    if (match !== 'Exact' && match !== 'NotOlderThan')
      causes.push(unsupported(match, '"Exact", "NotOlderThan", ""'))
    if (match === 'Exact' && resourceVersion === '0')
      causes.push(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (sendInitialEvents !== undefined)
    causes.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  return causes
}

/** Checks KEP-3157: sendInitialEvents requires resourceVersionMatch, in watches conversely too. */
function watchCauses({ match, isContinued, sendInitialEvents }: VersionParameters): readonly Cause[] {
  const causes: Cause[] = []
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan')
    causes.push(forbidden(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  if (match !== '') {
    const unless = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
    if (sendInitialEvents === undefined) causes.push(forbidden(field, unless))
    if (match !== 'NotOlderThan') causes.push(unsupported(match, '"NotOlderThan"'))
    if (isContinued) causes.push(forbidden(field, withContinue))
  }
  return causes
}

function forbidden(named: string, why: string): Cause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field: named }
}

function unsupported(value: string, supported: string): Cause {
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}`
  return { reason: 'FieldValueNotSupported', message, field }
}
