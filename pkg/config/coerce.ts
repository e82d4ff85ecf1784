import { z } from 'zod'
import { fieldsOf, unwrapSchema } from './option-list.ts'

/**
 * Converts text to the type that the schema expects (numbers, booleans, comma-separated lists),
 * since environment variables are text. Removes null fields, which YAML produces for keys without a
 * value. Invalid text is unchanged: the schema reports it.
 */
export function coerce(schema: z.core.$ZodType, value: unknown): unknown {
  const expected = unwrapSchema(schema)
  const members = fieldsOf(expected)
  if (members !== undefined) return isMapping(value) ? coerceMembers(members, value) : value
  if (expected instanceof z.ZodArray) {
    const { element } = expected
    if (Array.isArray(value)) return value.map(item => coerce(element, item))
    return typeof value === 'string' ? value.split(',').filter(item => item !== '') : value
  }
  if (typeof value !== 'string') return value
  if (expected instanceof z.ZodNumber) return /^\d+$/.test(value) ? Number(value) : value
  if (expected instanceof z.ZodBoolean && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

function coerceMembers(members: Readonly<Record<string, z.core.$ZodType>>, value: object): object {
  const present = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined)
  return Object.fromEntries(
    present.map(([key, inner]) => {
      const member = Object.hasOwn(members, key) ? members[key] : undefined
      return [key, member === undefined ? inner : coerce(member, inner)]
    }),
  )
}

export function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
