import { allOf, anyOf, type Expression, isOneOf, match } from '../filter/expression.ts'
import { type Field, maxTimeNs } from '../record.ts'
import { parseRegex } from '../regex/parse.ts'
import { requiredTexts } from '../regex/required-literals.ts'
import { allFilters, type Filter, type StreamMatcher, type ValueTest } from './query.ts'
import { ownField } from './row.ts'

/** The part of a filter that the store evaluates, and the remaining filter for rows. */
export type PushedDown = {
  readonly startNs: bigint | undefined
  readonly endNs: bigint | undefined
  /** Matches all records that pass the filter, and possibly others. */
  readonly expression: Expression | undefined
  /** The remaining filter; `all` if the store finds exactly the matching records. */
  readonly rest: Filter
  /** No record matches. */
  readonly isNever: boolean
}

/** A filter for a store. Every match meets `expression`; if `isExact`, only matches do. */
type NecessaryFilter = { readonly expression?: Expression | undefined; readonly isExact: boolean }

const nothing: NecessaryFilter = { isExact: false }
const everything: NecessaryFilter = { isExact: true }

/** Splits a filter into a part that the store evaluates and the rest. */
export function pushDown(filter: Filter): PushedDown {
  const parts = filter.op === 'and' ? filter.operands : [filter]
  let [startNs, endNs]: [bigint, bigint] = [0n, maxTimeNs]
  const rest: Filter[] = []
  const expressions: (Expression | undefined)[] = []
  for (const part of parts) {
    if (part.op === 'time') {
      if (part.startNs > startNs) startNs = part.startNs
      if (part.endNs < endNs) endNs = part.endNs
      continue
    }
    const { expression, isExact } = necessary(part)
    expressions.push(expression)
    if (!isExact) rest.push(part)
  }
  return {
    startNs: startNs > 0n ? startNs : undefined,
    endNs: endNs < maxTimeNs ? endNs : undefined,
    expression: allOf(expressions),
    rest: allFilters(rest),
    isNever: startNs > endNs,
  }
}

function necessary(filter: Filter): NecessaryFilter {
  switch (filter.op) {
    case 'all':
      return everything
    case 'and': {
      const parts = filter.operands.map(necessary)
      const expression = allOf(parts.map(part => part.expression))
      return { expression, isExact: parts.every(({ isExact }) => isExact) }
    }
    case 'or': {
      const parts = filter.operands.map(necessary)
      const unlimited = parts.filter(({ expression }) => expression === undefined)
      if (unlimited.length > 0) return unlimited.some(({ isExact }) => isExact) ? everything : nothing
      const expression = anyOf(parts.flatMap(part => part.expression ?? []))
      return { expression, isExact: parts.every(({ isExact }) => isExact) }
    }
    case 'not': {
      const { expression, isExact } = necessary(filter.operand)
      return isExact && expression !== undefined
        ? { expression: { op: 'not', operand: expression }, isExact }
        : nothing
    }
    case 'field':
      return ofField(filter.field, filter.test)
    case 'stream': {
      const lists = filter.any.map(all => all.map(ofStream))
      const isExact = lists.flat().every(part => part.isExact)
      const known = lists.flatMap(all => allOf(all.map(({ expression }) => expression)) ?? [])
      return known.length < lists.length ? nothing : { expression: anyOf(known), isExact }
    }
    default:
      return nothing
  }
}

const origins: Readonly<Record<string, Extract<Field, string>>> = {
  _msg: 'log',
  namespace: 'namespace',
  pod: 'pod',
  container: 'container',
  host: 'host',
  docker_id: 'dockerId',
}

/** Returns the field of records for a field of rows; undefined if there is none. */
function fieldOf(name: string): Field | undefined {
  if (Object.hasOwn(origins, name)) return origins[name]
  if (name.startsWith('labels.') && !name.endsWith('*')) return { label: name.slice('labels.'.length) }
  const own = ownField(name)
  return own === undefined ? undefined : { field: own }
}

function ofField(name: string, test: ValueTest): NecessaryFilter {
  const field = name.endsWith('*') ? undefined : fieldOf(name)
  if (field === undefined) return nothing
  switch (test.kind) {
    case 'exact':
      return whole(field, [test.text])
    case 'in':
      return whole(field, test.values)
    case 'phrase':
      if (test.text === '') return whole(field, [''])
      return isCaseSafe(test) ? inexact(part(field, test.text, !test.anyCase)) : nothing
    case 'prefix':
      return isCaseSafe(test) ? inexact(part(field, test.text, !test.anyCase)) : nothing
    case 'substring':
    case 'exactPrefix':
      return inexact(part(field, test.text))
    case 'containsAll':
    case 'sequence':
      return inexact(allOf(test.values.slice(0, maxParts).map(value => part(field, value))))
    case 'containsAny':
      return oneOfParts(field, test.values)
    case 'regexp': {
      const node = field === 'log' ? parseRegex(test.source) : undefined
      return inexact(node && requiredTexts(node, true))
    }
    default:
      return nothing
  }
}

function isOwn(field: Field): boolean {
  return typeof field === 'object' && 'field' in field
}

function inexact(expression: Expression | undefined): NecessaryFilter {
  return { expression, isExact: false }
}

/** Returns the condition that a value contains a text; undefined if that is unknown. */
function part(field: Field, searched: string, caseSensitive = true): Expression | undefined {
  const text = isOwn(field) ? partOfValue(searched) : searched
  return text === '' ? undefined : match(field, { kind: 'contains', text, caseSensitive })
}

const maxParts = 100

function oneOfParts(field: Field, values: readonly string[]): NecessaryFilter {
  const parts = values.slice(0, maxParts + 1).flatMap(value => part(field, value) ?? [])
  return parts.length < values.length ? nothing : inexact(anyOf(parts))
}

/** Translates the test that a value equals one of several. */
function whole(field: Field, values: readonly string[]): NecessaryFilter {
  // Only the words of a line are indexed, not the line.
  if (field === 'log') return oneOfParts(field, values)
  const isOrigin = typeof field === 'string'
  // Not translatable: an empty value matches a missing field, and a list is one JSON text in LogsQL
  // but several values in the store.
  if (!isOrigin && values.some(value => value === '' || value.startsWith('['))) return nothing
  return { expression: isOneOf(field, values), isExact: !isOwn(field) }
}

/** Reports whether the store and LogsQL fold the case of a text equally: only of ASCII. */
function isCaseSafe({ text, anyCase }: { readonly text: string; readonly anyCase: boolean }): boolean {
  return !anyCase || /^[\x20-\x7e]*$/.test(text)
}

/**
 * Returns a text that a list's value must contain if the JSON of the list contains `text`. Escapes
 * and commas of the JSON do not occur in values. Returns '' if there is none.
 */
function partOfValue(text: string): string {
  if (!/^[\p{L}\p{N} _.:;/+@#$%&*()=~|<>?!'{}^-]*$/u.test(text)) return ''
  // The text may begin within an escape such as `\n` or `\u0007`.
  const begin = /^(?:u[\da-f]{0,4}|[\da-f]{1,4}|[nrt])/.exec(text)?.[0].length ?? 0
  return text.slice(begin)
}

function ofStream({ label, isNegated, test }: StreamMatcher): NecessaryFilter {
  if (label !== 'namespace' && label !== 'pod' && label !== 'container') return nothing
  if (!('values' in test)) return nothing
  const expression = isOneOf(label, test.values)
  return { expression: isNegated ? { op: 'not', operand: expression } : expression, isExact: true }
}
