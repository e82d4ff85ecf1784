import type { MathExpression } from '../math.ts'
import type { Filter, Pipe, StatsFunction } from '../query.ts'
import { streamLabels } from '../row.ts'

/** Returns at least the fields that a filter and later pipes need; undefined for all. */
export function neededFields(test: Filter, pipes: readonly Pipe[]): readonly string[] | undefined {
  // The result contains all remaining fields.
  let needed: readonly string[] = ['*']
  for (const pipe of pipes.toReversed()) needed = neededBefore(pipe, needed)
  const names = new Set([...needed, ...fieldsOfFilter(test)])
  return names.values().some(name => name.endsWith('*')) ? undefined : [...names]
}

/** Returns the fields that a pipe needs. @param after fields that are needed of its output */
function neededBefore(pipe: Pipe, after: readonly string[]): readonly string[] {
  switch (pipe.kind) {
    case 'fields':
      return pipe.fields
    case 'top':
    case 'uniq':
      return pipe.by
    case 'patterns':
      return [pipe.from]
    case 'facets':
    case 'fieldNames':
      return ['*']
    case 'stats':
      return [
        ...pipe.by.map(({ field }) => field),
        ...pipe.entries.flatMap(entry => [
          ...fieldsOfFunction(entry.function),
          ...fieldsOfFilter(entry.condition),
        ]),
      ]
    case 'limit':
    case 'offset':
      return after
    case 'sort':
      return [...after, ...pipe.by.map(({ field }) => field), ...pipe.partitionBy]
    case 'filter':
      return [...after, ...fieldsOfFilter(pipe.filter)]
    case 'len':
      return [...after, pipe.field]
    case 'math':
      return [...after, ...pipe.entries.flatMap(({ expression }) => fieldsOfMath(expression))]
    case 'format':
      return [...after, ...pipe.steps.map(({ field }) => field), ...fieldsOfFilter(pipe.condition)]
    case 'extract':
    case 'unpack':
      return [...after, pipe.from, ...fieldsOfFilter(pipe.condition)]
  }
}

function fieldsOfFunction(what: StatsFunction): readonly string[] {
  if (what.name === 'histogram') return [what.field]
  // count(*) counts rows regardless of their fields.
  return what.name === 'count' && what.fields.includes('*') ? [] : what.fields
}

function fieldsOfFilter(filter: Filter | undefined): readonly string[] {
  switch (filter?.op) {
    case undefined:
    case 'all':
      return []
    case 'and':
    case 'or':
      return filter.operands.flatMap(fieldsOfFilter)
    case 'not':
      return fieldsOfFilter(filter.operand)
    case 'field':
      return [filter.field]
    case 'time':
    case 'dayRange':
    case 'weekRange':
      return ['_time']
    case 'stream':
      return streamLabels
  }
}

function fieldsOfMath(expression: MathExpression): readonly string[] {
  switch (expression.kind) {
    case 'number':
      return []
    case 'field':
      return [expression.field]
    case 'negative':
      return fieldsOfMath(expression.operand)
    case 'operator':
      return [...fieldsOfMath(expression.left), ...fieldsOfMath(expression.right)]
    case 'function':
      return expression.operands.flatMap(fieldsOfMath)
  }
}
