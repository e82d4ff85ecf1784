import { badRequest } from '../../../apierrors/status.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'
import { createNamePattern } from '../../name-pattern.ts'

/** The parts of a response to keep: a match of `includes`, and none of `excludes`. */
export type PathFilter = { readonly includes: 'all' | readonly Path[]; readonly excludes: readonly Path[] }

/** Field names, outermost first. `*` matches any characters, the name `**` any number of levels. */
type Path = readonly string[]

const maxPaths = 64

/**
 * Parses `filter_path` of Elasticsearch: comma-separated paths with dots; `-` before a path
 * excludes it.
 *
 * @param text paths; '' keeps everything
 * @throws Status 400
 */
export function parseFilterPath(text: string): PathFilter {
  const paths = text.split(',').filter(path => path !== '')
  if (paths.length > maxPaths)
    throw badRequest(`filter_path has ${paths.length} paths; the limit is ${maxPaths}`)
  const includes = paths.filter(path => !path.startsWith('-')).map(toPath)
  const excludes = paths.filter(path => path.startsWith('-')).map(path => toPath(path.slice(1)))
  return { includes: includes.length === 0 ? 'all' : includes, excludes }
}

/** Splits a path at its dots. Reduces repeated `**`, which would be slow to match. */
function toPath(text: string): Path {
  return text.split('.').filter((name, i, all) => name !== '**' || all[i - 1] !== '**')
}

/** Returns the filter of a field; undefined if nothing of it is kept. */
export function filterOfMember({ includes, excludes }: PathFilter, name: string): PathFilter | undefined {
  const left = excludes.flatMap(path => enter(path, name))
  if (left.some(isComplete)) return undefined
  if (includes === 'all') return { includes, excludes: left }
  const included = includes.flatMap(path => enter(path, name))
  if (included.length === 0) return undefined
  return { includes: included.some(isComplete) ? 'all' : included, excludes: left }
}

/** Returns the kept part of a value, through lists. @returns undefined if nothing is kept */
export function filterValue(value: unknown, filter: PathFilter): unknown {
  if (filter.includes === 'all' && filter.excludes.length === 0) return value
  if (Array.isArray(value)) {
    const items = value.map(item => filterValue(item, filter)).filter(item => item !== undefined)
    return items.length === 0 ? undefined : items
  }
  if (!isRecord(value)) return filter.includes === 'all' ? value : undefined
  const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const inner = filterOfMember(filter, name)
    const kept = inner && filterValue(member, inner)
    return kept === undefined ? [] : [[name, kept]]
  })
  return members.length === 0 ? undefined : Object.fromEntries(members)
}

/** Returns the remaining paths below a field; none if the field does not match. */
function enter([head = '', ...rest]: Path, name: string): readonly Path[] {
  if (head === '**') return rest.length === 0 ? [rest] : [[head, ...rest], ...enter(rest, name)]
  return createNamePattern(head)(name) ? [rest] : []
}

function isComplete(path: Path): boolean {
  return path.length === 0
}
