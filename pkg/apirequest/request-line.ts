import { createBoundedCache } from '../cache/bounded-cache.ts'
import { QueryParameters } from './query/query-parameters.ts'
import type { Exchange } from './request-context.ts'
import { parseRequestInfo } from './request-info.ts'
import { type Clusters, parseTarget } from './target.ts'

/** The parts of an exchange that depend only on method and URL. */
export type RequestLine = Pick<Exchange, 'info' | 'rawPath' | 'rawQuery' | 'query'>

const noQuery = new QueryParameters('')

/** Returns the parts for a request with an invalid URL. */
export function unreadableLine(method: string): RequestLine {
  return { info: parseRequestInfo(method, ''), rawPath: '', rawQuery: '', query: noQuery }
}

const maxCacheBytes = 4 * 1024 * 1024
const maxUrlLength = 512
// A parsed line takes about ten times its length.
const sizeOf = ({ rawPath, rawQuery }: RequestLine) => 1_000 + 10 * (rawPath.length + rawQuery.length)

/**
 * Creates a parser of request lines with a cache of recent GET requests: clients repeat few
 * distinct requests, and parsing costs more than serving many of them.
 *
 * @param maxParameterLength see QueryParameters
 * @returns a parser that throws Status 400, and 404 for a path in an unknown cluster
 */
export function createLineReader(
  maxParameterLength?: number,
  clusters?: Clusters,
): (method: string, url: string) => RequestLine {
  const lines = createBoundedCache<RequestLine>({ maxBytes: maxCacheBytes, sizeOf })
  return (method, url) => {
    if (method !== 'GET' || url.length > maxUrlLength)
      return parseLine(method, url, maxParameterLength, clusters)
    const known = lines.get(url)
    if (known) return known
    const line = parseLine(method, url, maxParameterLength, clusters)
    lines.set(url, line)
    return line
  }
}

/** @throws Status 400; 404 for a path in an unknown cluster */
export function parseLine(
  method: string,
  url: string,
  maxParameterLength?: number,
  clusters?: Clusters,
): RequestLine {
  const { path, rawPath, rawQuery, cluster } = parseTarget(url, clusters)
  const query = rawQuery === '' ? noQuery : new QueryParameters(rawQuery, maxParameterLength)
  return { info: parseRequestInfo(method, path, query, cluster), rawPath, rawQuery, query }
}
