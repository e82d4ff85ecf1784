import type { Request } from 'express'
import { oauthError } from './error.ts'

/** Parameters of a form, each given once. */
export type Form = ReadonlyMap<string, string>

const mediaType = 'application/x-www-form-urlencoded'

/**
 * Reads the body that express has read as text. Parameters come from the body alone: in the URL they would stand in logs
 * (RFC 6749 section 2.3.1), and a repeated one is refused, since two readers could take different ones (section 3.2).
 * An empty parameter is as if it were not given.
 */
export function readForm(req: Request): Form {
  assertForm(req)
  return parseParameters(String(req.body ?? ''), 'body')
}

/**
 * For what a browser may be sent to as well (OpenID Connect): the query, and with it the form of a POST, which may have no
 * body at all.
 */
export function readParameters(req: Request): Form {
  const question = req.originalUrl.indexOf('?')
  const query = question < 0 ? '' : req.originalUrl.slice(question + 1)
  if (req.method !== 'POST' || req.headers['content-type'] === undefined)
    return parseParameters(query, 'query')
  assertForm(req)
  return parseParameters(`${query}&${String(req.body ?? '')}`, 'body')
}

function assertForm(req: Request): void {
  if (req.is(mediaType)) return
  throw oauthError(415, 'invalid_request', `the body must be ${mediaType}`, {
    headers: { 'accept-post': mediaType },
  })
}

/** A query that was kept for later. */
export function parseQuery(query: string): Form {
  return parseParameters(query, 'query')
}

function parseParameters(text: string, where: 'body' | 'query'): Form {
  const seen = new Set<string>()
  const form = new Map<string, string>()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), where)
    if (seen.has(name))
      throw oauthError(400, 'invalid_request', `the parameter ${printable(name)} is given twice`)
    seen.add(name)
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1), where)
    if (value !== '') form.set(name, value)
  }
  return form
}

/** Strict, unlike URLSearchParams: a password with a bare % must not quietly become another one. */
function decode(text: string, where: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw oauthError(400, 'invalid_request', `the ${where} contains an invalid percent-encoding`)
  }
}

/** A caller's text inside an error_description: RFC 6749 allows printable ASCII without quote and backslash. */
function printable(text: string): string {
  return text.slice(0, 64).replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
