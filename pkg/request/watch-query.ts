import { badRequest } from '../status/status.ts'
import { parseVersionQuery, type VersionQuery } from './version-query.ts'

/** How a platform list is watched (`watch=true`), beside the filters that it shares with the list. */
export type WatchQuery = VersionQuery & {
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  /** 0 leaves it to the server. */
  readonly timeoutSeconds: number
}

const ofWatches = [
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
 * Parts the parameters of a watch from those that select objects. Names and meaning are those of Kubernetes' own watches.
 *
 * @throws Status 400 that names the parameter and what is allowed, 422 in the words of kube-apiserver
 */
export function parseWatchQuery(query: URLSearchParams): { watch: WatchQuery; rest: URLSearchParams } {
  const paged = ofPages.find(name => query.get(name))
  if (paged !== undefined) throw badRequest(`${paged} cannot be used with watch=true: a watch has no pages`)
  const sendInitialEvents = initialEvents(query)
  return {
    watch: {
      ...parseVersionQuery(query, { verb: 'watch', sendInitialEvents }),
      allowWatchBookmarks: boolean(query, 'allowWatchBookmarks'),
      sendInitialEvents,
      timeoutSeconds: number(query, 'timeoutSeconds'),
    },
    rest: without(query),
  }
}

/**
 * Parts which state a list is to be of from what selects objects. As kube-apiserver does it, what is said of a watch alone is read
 * and has no meaning.
 *
 * @throws Status 400, 422 in the words of kube-apiserver
 */
export function parseListVersion(query: URLSearchParams): { version: VersionQuery; rest: URLSearchParams } {
  if (!ofWatches.some(name => query.has(name))) return { version: newest, rest: query }
  const version = parseVersionQuery(query, { verb: 'list', sendInitialEvents: initialEvents(query) })
  boolean(query, 'allowWatchBookmarks')
  number(query, 'timeoutSeconds')
  return { version, rest: without(query) }
}

function without(query: URLSearchParams): URLSearchParams {
  const rest = new URLSearchParams(query)
  for (const name of ofWatches) rest.delete(name)
  return rest
}

function initialEvents(query: URLSearchParams): boolean | undefined {
  return query.has('sendInitialEvents') ? boolean(query, 'sendInitialEvents') : undefined
}

function number(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? ''
  if (text === '' || /^(0|[1-9]\d{0,14})$/.test(text)) return Number(text)
  throw badRequest(`${name} must be a whole number of at least 0, not ${JSON.stringify(text)}`)
}

function boolean(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) ?? ''
  if (text === '' || text === 'false' || text === '0') return false
  if (text === 'true' || text === '1') return true
  throw badRequest(`${name} must be true or false, not ${JSON.stringify(text)}`)
}
