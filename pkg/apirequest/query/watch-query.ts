import { badRequest } from '../../apierrors/status.ts'
import type { Exchange } from '../request-context.ts'
import type { QueryParameters } from './query-parameters.ts'
import { parseVersionQuery, type VersionQuery } from './version-query.ts'

/** Parameters of a watch of a platform list (`watch=true`), in addition to the filters. */
export type WatchQuery = VersionQuery & {
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  /** Timeout in seconds; 0 for the default of the server. */
  readonly timeoutSeconds: number
}

/** Names of the parameters of watches and resource versions, which are not filters. */
export const watchParameters: readonly string[] = [
  'watch',
  'resourceVersion',
  'resourceVersionMatch',
  'allowWatchBookmarks',
  'sendInitialEvents',
  'timeoutSeconds',
]
const newest: VersionQuery = { resourceVersion: '', match: '' }
const ofPages = ['page', 'limit', 'sortBy', 'ascending']
const ofStart = ['resourceVersion', 'resourceVersionMatch', 'sendInitialEvents']

/** Parameters of a watch of one page of a platform list. */
export type PageWatchQuery = Pick<WatchQuery, 'allowWatchBookmarks'> & { readonly timeoutMs: number }

const defaultPageWatchSeconds = 3_600
const maxTimerMs = 2 ** 31 - 1

/** Returns whether a request watches a single page: it has paging parameters. */
export function isPageWatch({ info, query }: Pick<Exchange, 'info' | 'query'>): boolean {
  return info.verb === 'watch' && ofPages.some(name => query.get(name))
}

/** @throws Status 400 that names the parameter */
export function parsePageWatchQuery(query: QueryParameters): PageWatchQuery {
  const start = ofStart.find(name => query.get(name))
  if (start !== undefined)
    throw badRequest(`${start} cannot be used with a watch of a page, which begins with the newest state`)
  const seconds = number(query, 'timeoutSeconds') || defaultPageWatchSeconds
  return {
    allowWatchBookmarks: boolean(query, 'allowWatchBookmarks'),
    timeoutMs: Math.min(seconds * 1000, maxTimerMs),
  }
}

/**
 * Parses the parameters of a watch, with the names and meaning of Kubernetes.
 *
 * @throws Status 400 that names the parameter and the allowed values, 422 with the message of
 * kube-apiserver
 */
export function parseWatchQuery(query: QueryParameters): WatchQuery {
  const sendInitialEvents = initialEvents(query)
  return {
    ...parseVersionQuery(query, { verb: 'watch', sendInitialEvents }),
    allowWatchBookmarks: boolean(query, 'allowWatchBookmarks'),
    sendInitialEvents,
    timeoutSeconds: number(query, 'timeoutSeconds'),
  }
}

/**
 * Parses the resource version of a list. Parameters that only apply to a watch are parsed and
 * ignored, as in kube-apiserver.
 *
 * @throws Status 400, 422 with the message of kube-apiserver
 */
export function parseListVersion(query: QueryParameters): VersionQuery {
  if (!watchParameters.some(name => query.has(name))) return newest
  const version = parseVersionQuery(query, { verb: 'list', sendInitialEvents: initialEvents(query) })
  boolean(query, 'allowWatchBookmarks')
  number(query, 'timeoutSeconds')
  return version
}

function initialEvents(query: QueryParameters): boolean | undefined {
  return query.has('sendInitialEvents') ? boolean(query, 'sendInitialEvents') : undefined
}

function number(query: QueryParameters, name: string): number {
  const text = query.get(name) ?? ''
  if (text === '' || /^(0|[1-9]\d{0,14})$/.test(text)) return Number(text)
  throw badRequest(`${name} must be a whole number of at least 0, not ${JSON.stringify(text)}`)
}

function boolean(query: QueryParameters, name: string): boolean {
  const text = query.get(name) ?? ''
  if (text === '' || text === 'false' || text === '0') return false
  if (text === 'true' || text === '1') return true
  throw badRequest(`${name} must be true or false, not ${JSON.stringify(text)}`)
}
