import type { Exchange } from './exchange.ts'
import { QueryParameters } from './query-parameters.ts'
import { parseRequestInfo } from './request-info.ts'
import { parseTarget } from './target.ts'

/** What method and URL alone say. */
export type RequestLine = Pick<Exchange, 'info' | 'rawPath' | 'rawQuery' | 'query'>

const noQuery = new QueryParameters('')

/** Stands for a line whose URL cannot be read. */
export function unreadableLine(method: string): RequestLine {
  return { info: parseRequestInfo(method, ''), rawPath: '', rawQuery: '', query: noQuery }
}

const maxLines = 1024
// A URL that the caller can make as long as they like must not fill the memory.
const maxUrlLength = 512

/**
 * Reads request lines. Clients ask for the same few things again and again, and reading a line costs more than answering
 * many of them: what GETs said lately is kept.
 *
 * @returns throws Status 400
 */
export function createLineReader(): (method: string, url: string) => RequestLine {
  const lines = new Map<string, RequestLine>()
  return (method, url) => {
    if (method !== 'GET' || url.length > maxUrlLength) return parseLine(method, url)
    const known = lines.get(url)
    if (known) return known
    const line = parseLine(method, url)
    if (lines.size >= maxLines) lines.clear()
    lines.set(url, line)
    return line
  }
}

/** @throws Status 400 */
export function parseLine(method: string, url: string): RequestLine {
  const { path, rawPath, rawQuery } = parseTarget(url)
  const query = rawQuery === '' ? noQuery : new QueryParameters(rawQuery)
  return { info: parseRequestInfo(method, path, query), rawPath, rawQuery, query }
}
