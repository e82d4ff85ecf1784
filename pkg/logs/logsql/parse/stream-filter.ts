import type { Filter, StreamMatcher } from '../query.ts'
import { checkRegexp, type FilterContext, parseValues } from './values.ts'

/** Parses `{label="value", label=~"expression" or label in ("a", "b")}`. @throws Status 400 */
export function parseStreamFilter(context: FilterContext): Filter {
  const { tokens, limits } = context
  tokens.expect('{')
  const any: (readonly StreamMatcher[])[] = []
  let all: StreamMatcher[] = []
  while (!tokens.take('}')) {
    limits.countTerm(tokens)
    all.push(parseMatcher(context))
    if (tokens.is('}')) continue
    if (tokens.take('or')) {
      any.push(all)
      all = []
    } else tokens.expect(',')
  }
  return { op: 'stream', any: [...any, all] }
}

function parseMatcher(context: FilterContext): StreamMatcher {
  const { tokens } = context
  const label = tokens.text('a label of streams')
  if (!tokens.is('=', '!=', '=~', '!~', 'in', 'not_in')) {
    throw tokens.error(`expected =, !=, =~, !~, in or not_in, not ${tokens.shown}`)
  }
  const operator = tokens.current.text.toLowerCase()
  const isNegated = operator.startsWith('!') || operator === 'not_in'
  if (operator === 'in' || operator === 'not_in') {
    const values = parseValues(tokens, true)
    return { label, isNegated, test: values === undefined ? { source: '' } : { values } }
  }
  tokens.advance()
  const value = tokens.text('a value')
  if (!operator.endsWith('~')) return { label, isNegated, test: { values: [value] } }
  checkRegexp(context, value)
  const values = readList(value)
  // Anchored at both ends, as in Prometheus.
  return { label, isNegated, test: values === undefined ? { source: `^(?:${value})$` } : { values } }
}

/** Parses a regular expression that is just a list, as of variables of Grafana: `(a|b)`. */
function readList(source: string): readonly string[] | undefined {
  const [, list = source] = /^\((?:\?:)?([^()]*)\)$/.exec(source) ?? []
  return /^(?:[\w-]|\\[.-]|\b\|\b)+$/.test(list) ? list.replaceAll('\\', '').split('|') : undefined
}
