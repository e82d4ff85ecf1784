/** A JSON schema that OpenAPI 2, 3 and kubectl explain support. `ref` names another. */
export type Schema = {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly format?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  /** The default, and whether null is allowed. Swagger 2.0 has neither. */
  readonly default?: unknown
  readonly nullable?: true
  /** Validation keywords that both versions of OpenAPI have, copied unchanged. */
  readonly limits?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly ref?: string
  /** Alternatives of a string or number (int-or-string), which Swagger 2.0 does not have. */
  readonly oneOf?: readonly Schema[]
  readonly preserveUnknownFields?: true
  /** Extensions, whose names begin with `x-`, copied unchanged. */
  readonly extensions?: Readonly<Record<string, unknown>>
}

/** Schemas by their short name, such as NodeSpec. */
export type Schemas = Readonly<Record<string, Schema>>

export function object(
  description: string,
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  return { type: 'object', description, properties, ...(required.length > 0 ? { required } : {}) }
}

export function anyObject(description: string): Schema {
  return { type: 'object', description, preserveUnknownFields: true }
}

export function string(description: string, values: readonly string[] = []): Schema {
  return { type: 'string', description, ...(values.length > 0 ? { enum: values } : {}) }
}

export function time(description: string): Schema {
  return { type: 'string', format: 'date-time', description }
}

export function integer(description: string, format: 'int32' | 'int64'): Schema {
  return { type: 'integer', format, description }
}

export function boolean(description: string): Schema {
  return { type: 'boolean', description }
}

/**
 * @param description meaning of the referenced schema in this field; shown in addition to its own
 */
export function ref(name: string, description?: string): Schema {
  return { ref: name, ...(description === undefined ? {} : { description }) }
}

export function array(description: string, items: Schema): Schema {
  return { type: 'array', description, items }
}

export function map(description: string, values: Schema): Schema {
  return { type: 'object', description, additionalProperties: values }
}

/** Returns the short names that a schema refers to directly. */
export function refsOf(schema: Schema): readonly string[] {
  const nested = [schema.items, schema.additionalProperties, ...Object.values(schema.properties ?? {})]
  const below = nested.flatMap(inner => (inner === undefined ? [] : refsOf(inner)))
  return schema.ref === undefined ? below : [schema.ref, ...below]
}
