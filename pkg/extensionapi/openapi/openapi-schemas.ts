import type { ServedGroup } from '../discovery/served-group.ts'
import { schemasOfGroup } from './schema/of-group.ts'
import type { Schema, Schemas } from './schema/schema.ts'

type Json = Readonly<Record<string, unknown>>

/** How a version of OpenAPI refers to another schema, given its whole name, with a description and the like next to it. */
export type WriteRef = (name: string, beside: Json) => Json

/** What the versions of OpenAPI write differently. */
export type Dialect = {
  readonly ref: WriteRef
  readonly oneOf: (schemas: readonly Json[]) => Json
  /** What stands for a member that is left out, or null. */
  readonly values: (values: Pick<Schema, 'default' | 'nullable'>) => Json
}

/**
 * The whole name of a schema. kube-apiserver merges the definitions of all servers into one document and renames those
 * that clash, so they are named by the reversed group: io.kapis.resources.v1alpha3.Node.
 */
export function schemaName({ group, version }: ServedGroup, name: string): string {
  return [...group.split('.').reverse(), version, name].join('.')
}

/** The schemas of a group as OpenAPI writes them, by whole name. Kinds say which kind they are: explain finds them so. */
export function writeSchemas(served: ServedGroup, known: Schemas, { ref, oneOf, values }: Dialect): Json {
  const { group, version } = served
  const kinds = new Set(served.resources.flatMap(({ kind }) => [kind, `${kind}List`]))
  const dialect = {
    oneOf,
    values,
    ref: (name, beside) => ref(schemaName(served, name), beside),
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
  const { preserveUnknownFields, extensions, limits, default: given, nullable, ...plain } = own
  const values = dialect.values({
    ...(given === undefined ? {} : { default: given }),
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
