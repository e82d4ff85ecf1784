import { readFileSync } from 'node:fs'
import { isRecord } from '../../pkg/kubeclient/object/object.ts'
import { moduleFile } from './go-module.ts'

type Schema = Readonly<Record<string, unknown>>
/** The schemas of one version of Kubernetes, from its OpenAPI document (Swagger 2.0). */
export type Schemas = {
  /** Returns the errors of an object; undefined if this version does not have its kind. */
  readonly problems: (object: Schema) => readonly string[] | undefined
}

/** @param version such as v1.36.3; the document is part of the source of this version */
export async function loadSchemas(version: string): Promise<Schemas> {
  const file = await moduleFile(`k8s.io/kubernetes@${version}`, 'api/openapi-spec/swagger.json')
  const { definitions }: { definitions: Record<string, Schema> } = JSON.parse(readFileSync(file, 'utf8'))
  const byKind = new Map<string, Schema>()
  for (const schema of Object.values(definitions)) {
    const kinds = schema['x-kubernetes-group-version-kind']
    if (!Array.isArray(kinds) || kinds.length !== 1) continue
    const [{ group, version: of, kind }] = kinds
    byKind.set(`${group === '' ? '' : `${group}/`}${of} ${kind}`, schema)
  }
  const resolve = (schema: Schema): Schema => {
    const { $ref: ref } = schema
    return typeof ref === 'string' ? (definitions[ref.replace('#/definitions/', '')] ?? {}) : schema
  }
  return {
    problems(object) {
      const schema = byKind.get(`${object.apiVersion} ${object.kind}`)
      return schema === undefined ? undefined : check(object, schema, `${object.kind}`, resolve)
    },
  }
}

/**
 * Validates a value. The documents of Kubernetes use few keywords: $ref, type, properties,
 * required, items, additionalProperties, format.
 */
function check(
  value: unknown,
  unresolved: Schema,
  path: string,
  resolve: (schema: Schema) => Schema,
): readonly string[] {
  const schema = resolve(unresolved)
  if (schema.format === 'int-or-string') {
    return ['number', 'string'].includes(typeof value) ? [] : [`${path}: neither number nor text`]
  }
  switch (schema.type) {
    case 'string':
      // A quantity may also be a number in YAML.
      return typeof value === 'string' || (typeof value === 'number' && isQuantity(schema))
        ? []
        : [`${path}: no text`]
    case 'boolean':
      return typeof value === 'boolean' ? [] : [`${path}: neither true nor false`]
    case 'integer':
      return Number.isInteger(value) ? [] : [`${path}: no whole number`]
    case 'number':
      return typeof value === 'number' ? [] : [`${path}: no number`]
    case 'array':
      if (!Array.isArray(value)) return [`${path}: no list`]
      return value.flatMap((item, i) =>
        isRecord(schema.items) ? check(item, schema.items, `${path}[${i}]`, resolve) : [],
      )
    default:
      return checkObject(value, schema, path, resolve)
  }
}

function checkObject(value: unknown, schema: Schema, path: string, resolve: (schema: Schema) => Schema) {
  const { properties, additionalProperties: others, required } = schema
  // A schema without properties allows any fields, such as JSON in CustomResourceDefinitions.
  if (!isRecord(properties) && !isRecord(others)) return []
  if (!isRecord(value)) return [`${path}: no mapping`]
  const missing = (Array.isArray(required) ? required : []).filter(key => value[key] === undefined)
  const inner: readonly string[] = Object.entries(value).flatMap(([key, member]) => {
    const known = isRecord(properties) ? properties[key] : others
    return isRecord(known) ? check(member, known, `${path}.${key}`, resolve) : [`${path}.${key}: unknown`]
  })
  return [...missing.map(key => `${path}.${key}: missing`), ...inner]
}

function isQuantity({ description }: Schema): boolean {
  return typeof description === 'string' && description.startsWith('Quantity is')
}
