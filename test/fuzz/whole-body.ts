import fc, { type Arbitrary } from 'fast-check'
import { members, type Resolver, type Schema, scalar } from './openapi.ts'

/**
 * Values of fields by name, where the schema does not restrict them: names, passwords, credentials.
 * undefined omits the field.
 */
export type KnownValues = Readonly<Record<string, unknown>>

const maxDepth = 5

/** Generates complete values of a schema: every field is present, and each has a valid value. */
export function wholeOf(given: Schema, resolve: Resolver, known: KnownValues, depth = 0): Arbitrary<unknown> {
  const schema = members(resolve(given))
  const { type, properties, items, pattern, format, const: only } = schema
  if (only !== undefined) return fc.constant(only)
  if (type === 'object' || properties !== undefined) return wholeObject(schema, resolve, known, depth)
  if (type === 'array') {
    if (depth >= maxDepth) return fc.constant([])
    return fc.array(wholeOf(members(items), resolve, known, depth + 1), { minLength: 1, maxLength: 1 })
  }
  if (type === 'integer' || type === 'number') {
    const { minimum, maximum } = schema
    const min = typeof minimum === 'number' ? minimum : 0
    return fc.integer({ min, max: typeof maximum === 'number' ? maximum : min + 1_000 })
  }
  if (type === 'boolean') return fc.boolean()
  if (format === 'date-time') return fc.constant('2026-01-02T03:04:05Z')
  return typeof pattern === 'string'
    ? fc.stringMatching(new RegExp(pattern.replaceAll('\\s', ' ')))
    : scalar(schema)
}

function wholeObject(
  schema: Schema,
  resolve: Resolver,
  known: KnownValues,
  depth: number,
): Arbitrary<unknown> {
  const { 'x-kubernetes-group-version-kind': kinds } = schema
  const kind = members(Array.isArray(kinds) ? kinds[0] : {})
  const named: KnownValues = kind.kind === undefined ? known : { ...known, ...typeOf(kind) }
  const model: Record<string, Arbitrary<unknown>> = {}
  for (const [name, inner] of Object.entries(members(schema.properties))) {
    if (name in named && named[name] === undefined) continue
    if (name in named) model[name] = fc.constant(named[name])
    else if (depth < maxDepth) model[name] = wholeOf(members(inner), resolve, known, depth + 1)
  }
  return fc.record(model)
}

function typeOf({ group, version, kind }: Readonly<Record<string, unknown>>): KnownValues {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind }
}

type ValuePath = readonly (string | number)[]

/**
 * Returns a copy in which one field at any depth is replaced, removed, or has an unknown sibling.
 */
export function oneChanged(whole: unknown): Arbitrary<unknown> {
  const ways = waysOf(whole)
  if (ways.length === 0) return hostile
  const change = fc.oneof(
    { weight: 6, arbitrary: hostile.map(value => () => value) },
    { weight: 1, arbitrary: fc.constant(() => undefined) },
    { weight: 1, arbitrary: fc.constant((old: unknown) => ({ ...members(old), unknownMember: 1 })) },
    { weight: 1, arbitrary: fc.constant((old: unknown) => [old, old]) },
  )
  return fc.tuple(fc.constantFrom(...ways), change).map(([way, how]) => changedAt(whole, way, how))
}

/** Returns the paths of all nested values, and of the whole value. */
function waysOf(value: unknown, at: ValuePath = []): readonly ValuePath[] {
  if (typeof value !== 'object' || value === null) return [at]
  const inner = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value)
  return [at, ...inner.flatMap(([key, item]) => waysOf(item, [...at, key]))]
}

function changedAt(value: unknown, way: ValuePath, how: (old: unknown) => unknown): unknown {
  const [key, ...rest] = way
  if (key === undefined) return how(value)
  if (Array.isArray(value)) return value.map((item, i) => (i === key ? changedAt(item, rest, how) : item))
  return { ...members(value), [key]: changedAt(members(value)[key], rest, how) }
}

const hostile: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', ' ', [], {}, [null], [[]], { '': '' }),
  fc.constantFrom<unknown>(
    'x'.repeat(5_000),
    '\u0000',
    '\ud800',
    '../x',
    'a\nb',
    'system:masters',
    '99999999999999999999',
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.jsonValue({ maxDepth: 2 }),
)
