import type { z } from 'zod'
import { coerce } from './coerce.ts'
import { type Problem, toProblems } from './config-error.ts'

/**
 * Parses a document, such as the content of a Secret, or a part of it.
 *
 * @param problems receives all errors with their paths
 * @param at the path of the part; '' for the whole document
 * @returns undefined if the document is invalid
 */
export function parseDocument<S extends z.ZodType>(
  schema: S,
  input: unknown,
  problems: Problem[],
  at = '',
): z.output<S> | undefined {
  const read = schema.safeParse(coerce(schema, input))
  if (read.success) return read.data
  for (const { path, message } of toProblems(schema, read.error))
    problems.push({ path: at === '' ? path : path === '(document)' ? at : `${at}.${path}`, message })
  return undefined
}
