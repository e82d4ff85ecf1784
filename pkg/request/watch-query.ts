import { badRequest } from '../status/status.ts'

/** How a platform list is watched (`watch=true`), beside the filters that it shares with the list. */
export type WatchQuery = {
  /** '' is the most recent state, '0' any. */
  readonly resourceVersion: string
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
const ofPages = ['page', 'limit', 'sortBy', 'ascending']

/**
 * Parts the parameters of a watch from those that select objects. Names and meaning are those of Kubernetes' own watches.
 *
 * @throws Status 400 that names the parameter and what is allowed
 */
export function parseWatchQuery(query: URLSearchParams): { watch: WatchQuery; rest: URLSearchParams } {
  const paged = ofPages.find(name => query.get(name))
  if (paged !== undefined) throw badRequest(`${paged} cannot be used with watch=true: a watch has no pages`)
  const rest = new URLSearchParams(query)
  for (const name of ofWatches) rest.delete(name)
  const initial = query.get('sendInitialEvents')
  return {
    watch: {
      resourceVersion: number(query, 'resourceVersion'),
      allowWatchBookmarks: boolean(query, 'allowWatchBookmarks'),
      sendInitialEvents: initial === null ? undefined : boolean(query, 'sendInitialEvents'),
      timeoutSeconds: Number(number(query, 'timeoutSeconds')),
    },
    rest,
  }
}

function number(query: URLSearchParams, name: string): string {
  const text = query.get(name) ?? ''
  if (text === '' || /^(0|[1-9]\d{0,14})$/.test(text)) return text
  throw badRequest(`${name} must be a whole number of at least 0, not ${JSON.stringify(text)}`)
}

function boolean(query: URLSearchParams, name: string): boolean {
  const text = query.get(name) ?? ''
  if (text === '' || text === 'false' || text === '0') return false
  if (text === 'true' || text === '1') return true
  throw badRequest(`${name} must be true or false, not ${JSON.stringify(text)}`)
}
