import { type FieldRequirement, matchesFields, parseFieldSelector } from '../request/field-selector.ts'
import { type LabelRequirement, matchesLabels, parseLabelSelector } from '../request/label-selector.ts'
import type { Entry } from '../resources/entry.ts'
import { badRequest, type Cause, invalid } from '../status/status.ts'

/** metav1.ListOptions, as far as reading goes. */
export type ListOptions = {
  /** '' is all of them. */
  readonly namespace: string
  readonly labels: readonly LabelRequirement[]
  readonly fields: readonly FieldRequirement[]
  /** '' is the most recent state, '0' any. */
  readonly resourceVersion: string
  readonly match: '' | 'Exact' | 'NotOlderThan'
  /** 0 is no limit. */
  readonly limit: number
  readonly continueToken: string
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  readonly timeoutSeconds: number
}

const knownFields = ['metadata.name', 'metadata.namespace']
const listOptionsKind = { group: 'meta.k8s.io', kind: 'ListOptions' }
const maxVersion = 2n ** 64n - 1n

/**
 * Reads and checks the options of a list or watch as kube-apiserver does.
 *
 * @param name the object that the path itself names, or ''
 * @param namespace the namespace that the path names, or ''
 * @throws Status 400 for what cannot be read, 422 for what contradicts itself
 */
export function parseListOptions(
  query: URLSearchParams,
  verb: 'list' | 'watch',
  name: string,
  namespace = '',
): ListOptions {
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', knownFields)
  if (name !== '' && fields.some(({ field, operator, value }) => contradicts(name, field, operator, value))) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name")
  }
  const named: FieldRequirement[] =
    name === '' ? [] : [{ field: 'metadata.name', operator: '=', value: name }]
  const options: ListOptions = {
    namespace,
    labels: parseLabelSelector(query.get('labelSelector') ?? ''),
    fields: [...fields, ...named],
    resourceVersion: version(query),
    match: match(query),
    limit: integer(query, 'limit'),
    continueToken: query.get('continue') ?? '',
    allowWatchBookmarks: boolean(query, 'allowWatchBookmarks') ?? false,
    sendInitialEvents: boolean(query, 'sendInitialEvents'),
    timeoutSeconds: integer(query, 'timeoutSeconds'),
  }
  const causes = verb === 'watch' ? watchCauses(options) : listCauses(options)
  if (causes.length > 0) throw invalid(listOptionsKind, causes)
  if (verb === 'list' && options.continueToken !== '' && !['', '0'].includes(options.resourceVersion))
    throw badRequest('specifying resource version is not allowed when using continue')
  return options
}

/** Whether a list is of one state and no later one: a limit together with a version has asked for that since before there was a match. */
export function isExact({ match: matching, limit, resourceVersion }: ListOptions): boolean {
  return matching === 'Exact' || (matching === '' && limit > 0 && !['', '0'].includes(resourceVersion))
}

export function matchesOptions(options: ListOptions): (entry: Entry) => boolean {
  const { labels, fields, namespace } = options
  return entry =>
    (namespace === '' || entry.namespace === namespace) &&
    matchesLabels(labels, entry.meta.labels ?? {}) &&
    matchesFields(fields, { 'metadata.name': entry.name, 'metadata.namespace': entry.namespace })
}

export function isSelective(options: ListOptions): boolean {
  return options.labels.length > 0 || options.fields.length > 0
}

/** Names a selection: lists and watches with one key select alike. */
export function toSelectorKey(query: URLSearchParams, namespace = ''): string {
  return JSON.stringify([query.get('labelSelector') ?? '', query.get('fieldSelector') ?? '', namespace])
}

const matchWithContinue = forbidden(
  'resourceVersionMatch',
  'resourceVersionMatch is forbidden when continue is provided',
)

function listCauses(options: ListOptions): readonly Cause[] {
  const { resourceVersion, match: matching, continueToken, sendInitialEvents } = options
  const causes: Cause[] = []
  if (matching !== '' && resourceVersion === '') {
    causes.push(
      forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden unless resourceVersion is provided',
      ),
    )
  }
  if (matching !== '' && continueToken !== '') causes.push(matchWithContinue)
  if (matching === 'Exact' && resourceVersion === '0') {
    causes.push(
      forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
    )
  }
  if (sendInitialEvents !== undefined) {
    causes.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  }
  return causes
}

/** KEP-3157: initial events and the match rule only come together. */
function watchCauses({ match: matching, sendInitialEvents, continueToken }: ListOptions): readonly Cause[] {
  if (sendInitialEvents === undefined && matching !== '') {
    return [
      forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    ]
  }
  if (sendInitialEvents !== undefined && matching !== 'NotOlderThan') {
    return [
      forbidden(
        'resourceVersionMatch',
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    ]
  }
  if (matching !== '' && continueToken !== '') return [matchWithContinue]
  return []
}

function forbidden(field: string, why: string): Cause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }
}

function contradicts(name: string, field: string, operator: '=' | '!=', value: string): boolean {
  return field === 'metadata.name' && (value === name) !== (operator === '=')
}

function version(query: URLSearchParams): string {
  const text = query.get('resourceVersion') ?? ''
  if (text === '' || (/^(0|[1-9]\d{0,19})$/.test(text) && BigInt(text) <= maxVersion)) return text
  throw badRequest(
    `Invalid value: ${JSON.stringify(text)}: resourceVersion must be a decimal integer without leading zeros`,
  )
}

function match(query: URLSearchParams): '' | 'Exact' | 'NotOlderThan' {
  const text = query.get('resourceVersionMatch') ?? ''
  if (text === '' || text === 'Exact' || text === 'NotOlderThan') return text
  const message = `Unsupported value: ${JSON.stringify(text)}: supported values: "Exact", "NotOlderThan", ""`
  throw invalid(listOptionsKind, [
    { reason: 'FieldValueNotSupported', message, field: 'resourceVersionMatch' },
  ])
}

function integer(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? ''
  if (text === '') return 0
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw badRequest(`${name} must be a whole number of at least 0, not ${JSON.stringify(text)}`)
}

/** apimachinery's rule: present and neither false nor 0 is true. */
function boolean(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name)?.toLowerCase()
  if (text === undefined) return undefined
  return text !== 'false' && text !== '0'
}
