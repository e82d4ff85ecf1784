import { fieldsOf, isRecord, itemsOf, textOf } from '../../../kubeclient/object/object.ts'
import { metaSchemas } from './meta.ts'
import { ref, type Schema, type Schemas } from './schema.ts'

/** A kind, and the group and version in which kube-apiserver serves it. */
export type SourceKind = {
  readonly kind: string
  readonly source: { readonly group: string; readonly version: string }
}

const metaPrefix = 'io.k8s.apimachinery.pkg.apis.meta.v1.'
const refPrefix = '#/components/schemas/'
const limitNames = new Set([
  ...['maxLength', 'minLength', 'pattern'],
  ...['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf'],
  ...['maxItems', 'minItems', 'uniqueItems', 'maxProperties', 'minProperties'],
])
const types: readonly Schema['type'][] = ['object', 'array', 'string', 'integer', 'number', 'boolean']

/**
 * Extracts the schemas of kinds and all their references, by short name, from the OpenAPI 3.0
 * documents of kube-apiserver. A kind without a schema is omitted.
 *
 * @param documents parsed documents; the first one with a schema is used
 */
export function schemasOfKinds(kinds: readonly SourceKind[], documents: readonly unknown[]): Schemas {
  const sources = new Map<string, unknown>()
  for (const document of documents) {
    const { schemas } = fieldsOf(fieldsOf(document).components)
    for (const [name, schema] of Object.entries(fieldsOf(schemas)))
      if (!sources.has(name)) sources.set(name, schema)
  }
  const shortNames = new Map<string, string>()
  const taken = new Set<string>(kinds.flatMap(({ kind }) => [kind, `${kind}List`]))
  for (const kind of kinds) {
    const name = [...sources].find(([, schema]) => isOfKind(schema, kind))?.[0]
    if (name !== undefined) shortNames.set(name, kind.kind)
  }

  function shortNameOf(name: string): string {
    const known = shortNames.get(name)
    if (known !== undefined) return known
    const short = toShortName(name, taken)
    taken.add(short)
    shortNames.set(name, short)
    return short
  }

  // toSchema adds each referenced schema to shortNames, so the loop visits it too.
  const found: [string, Schema][] = []
  for (const [name, short] of shortNames) found.push([short, toSchema(sources.get(name), shortNameOf)])
  return Object.fromEntries(found)
}

function isOfKind(schema: unknown, { kind, source }: SourceKind): boolean {
  return itemsOf(fieldsOf(schema)['x-kubernetes-group-version-kind'])
    .map(fieldsOf)
    .some(is => is.kind === kind && is.group === source.group && is.version === source.version)
}

/**
 * Returns the last part of a name, as kubectl explain shows it. If the schema belongs to another
 * group, its group and version are prepended.
 */
function toShortName(name: string, taken: ReadonlySet<string>): string {
  const parts = name.split('.')
  const last = parts.at(-1) ?? name
  const isFree = name.startsWith(metaPrefix) || !Object.hasOwn(metaSchemas, last)
  if (isFree && !taken.has(last)) return last
  return parts.map(part => part.charAt(0).toUpperCase() + part.slice(1).replace(/\W/g, '')).join('')
}

function toSchema(value: unknown, nameOf: (name: string) => string): Schema {
  const from = fieldsOf(value)
  const description = textOf(from.description)
  const target = targetOf(from)
  // This extension is generated again, with the group of the extension API.
  const extensions = Object.entries(from).filter(
    ([key]) => key.startsWith('x-') && key !== 'x-kubernetes-group-version-kind',
  )
  const siblings = {
    ...(from.default === undefined ? {} : { default: from.default }),
    ...(from.nullable === true ? { nullable: true as const } : {}),
    ...(extensions.length > 0 ? { extensions: Object.fromEntries(extensions) } : {}),
  }
  if (target !== undefined)
    return { ...ref(nameOf(target), description === '' ? undefined : description), ...siblings }
  const type = types.find(known => known === from.type)
  const required = itemsOf(from.required).map(textOf)
  const inner = (schema: unknown) => toSchema(schema, nameOf)
  const limits = Object.entries(from).filter(([key]) => limitNames.has(key))
  const properties = Object.entries(fieldsOf(from.properties)).map(([key, schema]) => [key, inner(schema)])
  return {
    ...(type === undefined ? {} : { type }),
    ...(from.format === undefined ? {} : { format: textOf(from.format) }),
    ...(description === '' ? {} : { description }),
    ...(Array.isArray(from.enum) ? { enum: from.enum } : {}),
    ...(limits.length > 0 ? { limits: Object.fromEntries(limits) } : {}),
    ...(required.length > 0 ? { required } : {}),
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(isRecord(from.items) ? { items: inner(from.items) } : {}),
    ...(isRecord(from.additionalProperties)
      ? { additionalProperties: inner(from.additionalProperties) }
      : {}),
    ...(Array.isArray(from.oneOf) ? { oneOf: from.oneOf.map(inner) } : {}),
    ...siblings,
  }
}

/** Returns the name of the referenced schema, which kube-apiserver may wrap in allOf. */
function targetOf(schema: Readonly<Record<string, unknown>>): string | undefined {
  const all = itemsOf(schema.allOf)
  const target = textOf(schema.$ref ?? (all.length === 1 ? fieldsOf(all[0]).$ref : undefined))
  return target.startsWith(refPrefix) ? target.slice(refPrefix.length) : undefined
}
