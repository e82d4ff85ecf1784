import { badRequest } from '../../apierrors/status.ts'
import type { FilterParser, IndexedFields } from '../kind.ts'

/** Returns a filter by status, whose value must be one of `words`. */
export function oneOf(parameter: string, words: readonly string[]): FilterParser {
  return value => {
    if (!words.includes(value))
      throw badRequest(`${parameter} must be one of ${words.join(', ')}, not ${JSON.stringify(value)}`)
    return fields => fields.status === value
  }
}

export function exact(name: string): FilterParser {
  return value => fields => fields.values[name] === value
}

/** Returns a filter by a value that ignores case, for phases. */
export function caseless(name: string): FilterParser {
  return value => {
    const expected = value.toLowerCase()
    return fields => fields.values[name]?.toLowerCase() === expected
  }
}

/** Returns a filter by one of several values of an object (see joinValues). */
export function anyOf(name: string): FilterParser {
  return value => fields => hasValue(fields, name, value)
}

export function noneOf(name: string): FilterParser {
  return value => fields => !hasValue(fields, name, value)
}

/** Joins several values with line feeds, which names in Kubernetes cannot contain. */
export function joinValues(values: readonly string[]): string {
  return values.length === 0 ? '' : `\n${values.join('\n')}\n`
}

function hasValue(fields: IndexedFields, name: string, value: string): boolean {
  return !value.includes('\n') && fields.values[name]?.includes(`\n${value}\n`) === true
}

/** Returns a filter by `true` or `false`. */
export function yesOrNo(parameter: string): FilterParser {
  return value => {
    if (value !== 'true' && value !== 'false')
      throw badRequest(`${parameter} must be true or false, not ${JSON.stringify(value)}`)
    return fields => (fields.values[parameter] === 'true') === (value === 'true')
  }
}
