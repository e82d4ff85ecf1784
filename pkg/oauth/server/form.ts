import type { Request } from 'express'
import { printable } from '../../apierrors/printable.ts'
import type { Status } from '../../apierrors/status.ts'
import { invalidRequest, oauthError } from './error.ts'

/**
 * Parameters of a form. Only `resource` and `audience` may be repeated: their values are joined by
 * spaces.
 */
export type Form = ReadonlyMap<string, string>

/** The valid parameters, and the errors by name ('' for one that cannot be decoded). */
export type ReadParameters = { readonly form: Form; readonly problems: ReadonlyMap<string, Status> }

/** RFC 8707 section 2 and RFC 8693 section 2.1. */
const repeatable: ReadonlySet<string> = new Set(['resource', 'audience'])

const mediaType = 'application/x-www-form-urlencoded'

/**
 * Parses the body that express has read as text. Parameters must be in the body: in the URL they
 * would be logged (RFC 6749 section 2.3.1). A repeated parameter is rejected, since two parsers
 * could use different values (section 3.2). An empty parameter counts as missing.
 */
export function readForm(req: Request): Form {
  assertForm(req)
  return requireSound(parseParameters(String(req.body ?? ''), 'body'))
}

/** Parses the query and optional form of a request that browsers are redirected to. */
export function readParameters(req: Request): Form {
  return requireSound(readEachParameter(req))
}

/** Like `readParameters`, but returns errors, with valid parameters in the form. */
export function readEachParameter(req: Request): ReadParameters {
  const queryAt = req.originalUrl.indexOf('?')
  const query = queryAt < 0 ? '' : req.originalUrl.slice(queryAt + 1)
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

/** Parses the query of a stored path. */
export function parseQuery(query: string): Form {
  return requireSound(parseParameters(query, 'query'))
}

/** Returns the form if it is valid. @throws Status invalid_request */
function requireSound({ form, problems }: ReadParameters): Form {
  for (const problem of problems.values()) throw problem
  return form
}

function parseParameters(text: string, where: 'body' | 'query'): ReadParameters {
  const form = new Map<string, string>()
  const seen = new Set<string>()
  const problems = new Map<string, Status>()
  const note = (name: string, description: string) => problems.set(name, invalidRequest(description))
  for (const { name, value, isBroken } of readPairs(text)) {
    if (isBroken) note(name, `the ${where} contains an invalid percent-encoding`)
    else if (seen.has(name) && !repeatable.has(name))
      note(name, `the parameter ${printable(name)} is given more than once`)
    else if (value !== '') form.set(name, form.has(name) ? `${form.get(name)} ${value}` : value)
    seen.add(name)
  }
  for (const name of problems.keys()) form.delete(name)
  return { form, problems }
}

function readPairs(text: string) {
  const pairs = text.split('&').filter(pair => pair !== '')
  return pairs.map(pair => {
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    return { name: name ?? '', value: value ?? '', isBroken: name === undefined || value === undefined }
  })
}

/** Decodes strictly: URLSearchParams would change a password with a bare % silently. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** @throws Status invalid_request if the parameter is missing (RFC 6749 section 5.2) */
export function requireParameter(form: Form, name: string): string {
  const value = form.get(name)
  if (value === undefined) throw invalidRequest(`the parameter ${name} is required`)
  return value
}
