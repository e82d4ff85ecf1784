import { badRequest } from '../../apierrors/status.ts'
import type { Facts, FilterParser } from '../kind.ts'

/** A filter by the status word, which must be one of those that the kind has. */
export function oneOf(parameter: string, words: readonly string[]): FilterParser {
  return value => {
    if (!words.includes(value))
      throw badRequest(`${parameter} must be one of ${words.join(', ')}, not ${JSON.stringify(value)}`)
    return facts => facts.status === value
  }
}

/** A filter by one of the kind's own values, exact. */
export function exact(name: string): FilterParser {
  return value => facts => facts.values[name] === value
}

/** Exact but for case, as phases are asked for. */
export function caseless(name: string): FilterParser {
  return value => {
    const wanted = value.toLowerCase()
    return facts => facts.values[name]?.toLowerCase() === wanted
  }
}

/** A filter by one of several values that the kind keeps under one name (see joinValues). */
export function anyOf(name: string): FilterParser {
  return value => facts => hasValue(facts, name, value)
}

export function noneOf(name: string): FilterParser {
  return value => facts => !hasValue(facts, name, value)
}

/** Several values as one; a line feed is in no name of Kubernetes. */
export function joinValues(values: readonly string[]): string {
  return values.length === 0 ? '' : `\n${values.join('\n')}\n`
}

function hasValue(facts: Facts, name: string, value: string): boolean {
  return !value.includes('\n') && facts.values[name]?.includes(`\n${value}\n`) === true
}

/** A filter by true or false. */
export function yesOrNo(parameter: string): FilterParser {
  return value => {
    if (value !== 'true' && value !== 'false')
      throw badRequest(`${parameter} must be true or false, not ${JSON.stringify(value)}`)
    return facts => (facts.values[parameter] === 'true') === (value === 'true')
  }
}
