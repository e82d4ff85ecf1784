import type { Request } from 'express'
import { oauthError } from './error.ts'

/** Parameters of a form, each given once. */
export type Form = ReadonlyMap<string, string>

/**
 * Reads the body that express has read as text. Parameters come from the body alone: in the URL they would stand in logs
 * (RFC 6749 section 2.3.1), and a repeated one is refused, since two readers could take different ones (section 3.2).
 * An empty parameter is as if it were not given.
 */
export function readForm(req: Request): Form {
  if (!req.is('application/x-www-form-urlencoded')) {
    throw oauthError(415, 'invalid_request', 'the body must be application/x-www-form-urlencoded')
  }
  const form = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(typeof req.body === 'string' ? req.body : '')) {
    if (form.has(name))
      throw oauthError(400, 'invalid_request', `the parameter ${printable(name)} is given twice`)
    form.set(name, value)
  }
  for (const [name, value] of form) if (value === '') form.delete(name)
  return form
}

/** A caller's text inside an error_description: RFC 6749 allows printable ASCII without quote and backslash. */
function printable(text: string): string {
  return text.slice(0, 64).replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
