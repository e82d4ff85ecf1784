import { badRequest } from '../apierrors/status.ts'
import type { QueryParameters } from './query-parameters.ts'
import { parseVersionQuery, type VersionQuery } from './version-query.ts'

/** How a platform list is watched (`watch=true`), next to the filters that it shares with the list. */
export type WatchQuery = VersionQuery & {
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  /** 0 leaves it to the server. */
  readonly timeoutSeconds: number
}

/** The parameters of a watch or of a version, which select nothing. */
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

/**
 * Reads how to watch. Names and meaning are those of Kubernetes' own watches.
 *
 * @throws Status 400 that names the parameter and what is allowed, 422 in the words of kube-apiserver
 */
export function parseWatchQuery(query: QueryParameters): WatchQuery {
  const paged = ofPages.find(name => query.get(name))
  if (paged !== undefined) throw badRequest(`${paged} cannot be used with watch=true: a watch has no pages`)
  const sendInitialEvents = initialEvents(query)
  return {
    ...parseVersionQuery(query, { verb: 'watch', sendInitialEvents }),
    allowWatchBookmarks: boolean(query, 'allowWatchBookmarks'),
    sendInitialEvents,
    timeoutSeconds: number(query, 'timeoutSeconds'),
  }
}

/**
 * Reads which state a list is to be of. As kube-apiserver does it, what is said of a watch alone is read and has no meaning.
 *
 * @throws Status 400, 422 in the words of kube-apiserver
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
