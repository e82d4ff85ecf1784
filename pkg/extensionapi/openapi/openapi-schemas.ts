import { isListed, type ServedGroup } from '../discovery/served-group.ts'
import { schemasOfGroup } from './schema/group-schemas.ts'
import type { Schema, Schemas } from './schema/schema.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Returns a reference to another schema by its full name, in the syntax of a version of OpenAPI,
 * with a description next to the reference.
 */
export type WriteRef = (name: string, siblings: Json) => Json

/** The differences between the versions of OpenAPI. */
export type Dialect = {
  readonly ref: WriteRef
  readonly oneOf: (schemas: readonly Json[]) => Json
  /** Returns the keywords for the default of a missing or null field. */
  readonly values: (values: Pick<Schema, 'default' | 'nullable'>) => Json
}

/**
 * Returns the full name of a schema: the reversed group, such as io.kapis.resources.v1alpha3.Node.
 * kube-apiserver merges the definitions of all servers into one document and renames conflicting
 * ones.
 */
export function schemaName({ group, version }: ServedGroup, name: string): string {
  return [...group.split('.').reverse(), version, name].join('.')
}

/**
 * Returns the schemas of a group in OpenAPI form, by full name. Kinds carry
 * x-kubernetes-group-version-kind, by which kubectl explain finds them.
 */
export function writeSchemas(served: ServedGroup, known: Schemas, { ref, oneOf, values }: Dialect): Json {
  const { group, version } = served
  const kinds = new Set(
    served.resources.flatMap(resource => [
      resource.kind,
      ...(isListed(resource) ? [`${resource.kind}List`] : []),
    ]),
  )
  const dialect = {
    oneOf,
    values,
    ref: (name, siblings) => ref(schemaName(served, name), siblings),
  } satisfies Dialect
  const entries = Object.entries(schemasOfGroup(served, known)).map(([name, schema]) => {
    const groupVersionKind = kinds.has(name)
      ? { 'x-kubernetes-group-version-kind': [{ group, kind: name, version }] }
      : {}
    return [schemaName(served, name), { ...writeSchema(schema, dialect), ...groupVersionKind }]
  })
  return Object.fromEntries(entries)
}

function writeSchema(schema: Schema, dialect: Dialect): Json {
  const { ref, properties, items, additionalProperties, oneOf, ...own } = schema
  const { preserveUnknownFields, extensions, limits, default: defaultValue, nullable, ...plain } = own
  const values = dialect.values({
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
    ...(nullable && { nullable }),
  })
  if (ref !== undefined) return dialect.ref(ref, { ...plain, ...values, ...extensions })
  const write = (inner: Schema) => writeSchema(inner, dialect)
  return {
    ...plain,
    ...limits,
    ...values,
    ...(properties && { properties: mapValues(properties, write) }),
    ...(items && { items: write(items) }),
    ...(additionalProperties && { additionalProperties: write(additionalProperties) }),
    ...(oneOf && dialect.oneOf(oneOf.map(write))),
    ...extensions,
    ...(preserveUnknownFields && { 'x-kubernetes-preserve-unknown-fields': true }),
  }
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
