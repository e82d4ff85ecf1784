import fc, { type Arbitrary } from 'fast-check'

/** An operation of an OpenAPI v3 document, with its parameters and body. */
export type Operation = {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: Schema | undefined
  readonly contentType: string
}

export type Parameter = { readonly name: string; readonly in: string; readonly schema: Schema }
export type Schema = Readonly<Record<string, unknown>>

/** A request: parameters by place and name, and a body. */
export type GeneratedRequest = {
  readonly method: string
  readonly target: string
  /** The path template in the document. */
  readonly template: string
  readonly contentType: string
  readonly body: string | undefined
}

const methods = new Set(['get', 'put', 'post', 'delete', 'patch', 'head', 'options'])

/** Documents that may be referenced, by path. */
export type OtherSchemas = ReadonlyMap<string, unknown>

/** Extracts the operations of a document; ignores parts that it does not support. */
export function readOperations(document: unknown, others: OtherSchemas = new Map()): readonly Operation[] {
  const resolve = createResolver(document, others)
  return Object.entries(members(members(document).paths)).flatMap(([path, item]) =>
    Object.entries(members(item))
      .filter(([method]) => methods.has(method))
      .map(([method, given]) => {
        const operation = members(given)
        const parameters = [...list(members(item).parameters), ...list(operation.parameters)].map(one => {
          const parameter = members(resolve(one))
          return {
            name: String(parameter.name),
            in: String(parameter.in),
            schema: members(resolve(parameter.schema)),
          }
        })
        const content = members(members(resolve(operation.requestBody)).content)
        const [contentType = 'application/json', media] = Object.entries(content)[0] ?? []
        const body = members(media).schema
        return {
          ...{ method: method.toUpperCase(), path, parameters, contentType },
          body: body === undefined ? undefined : members(resolve(body)),
        }
      }),
  )
}

/**
 * Generates requests that a document allows, and some that it does not allow, since clients send
 * those too.
 */
export function requestsOf(
  document: unknown,
  operations: readonly Operation[],
  others: OtherSchemas = new Map(),
): Arbitrary<GeneratedRequest> {
  const resolve = createResolver(document, others)
  return fc.constantFrom(...operations).chain(operation => {
    const { method, path, parameters, body, contentType } = operation
    const inPath = parameters.filter(parameter => parameter.in === 'path')
    const inQuery = parameters.filter(parameter => parameter.in === 'query')
    const textOf = ({ schema }: Parameter) => fc.oneof(scalar(schema), hostileText)
    return fc
      .record({
        path: fc.tuple(...inPath.map(parameter => fc.tuple(fc.constant(parameter.name), textOf(parameter)))),
        query: fc.tuple(
          ...inQuery.map(parameter =>
            fc.option(fc.tuple(fc.constant(parameter.name), textOf(parameter)), { freq: 1 }),
          ),
        ),
        body:
          body === undefined ? fc.constant(undefined) : fc.oneof(valueFor(body, resolve, 0), fc.jsonValue()),
      })
      .map(given => {
        const named = new Map(given.path)
        const filled = path.replace(/\{([^}]+)\}/g, (_, name) => encodeURIComponent(named.get(name) || 'x'))
        const query = new URLSearchParams(given.query.filter(pair => pair !== null))
        const target = query.size === 0 ? filled : `${filled}?${query}`
        const sent = given.body === undefined ? undefined : toText(given.body, contentType)
        return { method, target, template: path, contentType, body: sent }
      })
  })
}

export function toText(value: unknown, contentType: string): string {
  if (contentType !== 'application/x-www-form-urlencoded') return JSON.stringify(value)
  const fields = new URLSearchParams()
  // `String()` could fail: a generated object may have a toString that is not a function.
  for (const [name, field] of Object.entries(members(value)))
    fields.append(name, typeof field === 'string' ? field : JSON.stringify(field))
  return String(fields)
}

export const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '-1',
    '99999999999999999999',
    'null',
    'true',
    '*',
    'a,b',
    'a=b',
    '../x',
    "'",
    '"',
    '\u0000',
    'ö',
    '%',
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
)

export function scalar(schema: Schema): Arbitrary<string> {
  const { enum: values, type } = schema
  if (Array.isArray(values) && values.length > 0) return fc.constantFrom(...values.map(String))
  if (type === 'integer' || type === 'number') return fc.integer({ min: -5, max: 1_000 }).map(String)
  if (type === 'boolean') return fc.boolean().map(String)
  return fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/)
}

function valueFor(given: Schema, resolve: (value: unknown) => unknown, depth: number): Arbitrary<unknown> {
  const schema = members(resolve(given))
  const { type, properties, items } = schema
  if (depth > 4) return fc.constant(null)
  if (type === 'object' || properties !== undefined) {
    const entries = Object.entries(members(properties)).slice(0, 20)
    const model = Object.fromEntries(
      entries.map(([name, inner]) => [name, valueFor(members(inner), resolve, depth + 1)]),
    )
    return fc.record(model, { requiredKeys: [] })
  }
  if (type === 'array') return fc.array(valueFor(members(items), resolve, depth + 1), { maxLength: 3 })
  if (type === 'integer' || type === 'number') return fc.oneof(fc.integer(), fc.double())
  if (type === 'boolean') return fc.boolean()
  return fc.oneof(scalar(schema), hostileText)
}

export type Resolver = (value: unknown) => unknown

/**
 * Resolves `$ref`, also to other documents, and an `allOf` with one entry, which adds a default to
 * a `$ref`.
 */
export function createResolver(document: unknown, others: OtherSchemas): Resolver {
  const at = (ref: string) => {
    const [path = '', pointer = ''] = ref.split('#')
    if (path === '') return follow(document, pointer)
    return absolute(follow(others.get(path), pointer), path)
  }
  return value => {
    let found = value
    for (let hops = 0; hops < 10; hops++) {
      const { $ref, allOf } = members(found)
      if (typeof $ref === 'string') found = at($ref)
      else if (Array.isArray(allOf) && allOf.length === 1) found = allOf[0]
      else return found
    }
    return {}
  }
}

/** Makes references absolute, so that they are valid in other documents. */
function absolute(value: unknown, path: string): unknown {
  if (Array.isArray(value)) return value.map(item => absolute(item, path))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => {
    const isLocal = key === '$ref' && typeof inner === 'string' && inner.startsWith('#')
    return [key, isLocal ? path + inner : absolute(inner, path)]
  })
  return Object.fromEntries(entries)
}

function follow(document: unknown, pointer: string): unknown {
  return pointer
    .replace(/^\//, '')
    .split('/')
    .reduce<unknown>((at, key) => members(at)[key.replaceAll('~1', '/').replaceAll('~0', '~')], document)
}

export function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
