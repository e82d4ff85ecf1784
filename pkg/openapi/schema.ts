/** A JSON Schema of draft 2020-12, which OpenAPI 3.1 uses. */
export type Schema = { readonly [keyword: string]: unknown }

export function object(
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
  description = '',
): Schema {
  const required = Object.keys(properties).filter(name => !optional.includes(name))
  return {
    type: 'object',
    ...(description === '' ? {} : { description }),
    ...(required.length > 0 ? { required } : {}),
    properties,
  }
}

export function anyObject(description: string): Schema {
  return { type: 'object', description }
}

export function text(description = '', more: Schema = {}): Schema {
  return { type: 'string', ...(description === '' ? {} : { description }), ...more }
}

export function oneOfTexts(values: readonly string[], description = '', more: Schema = {}): Schema {
  return text(description, { enum: values, ...more })
}

export function integer(description = '', more: Schema = {}): Schema {
  return { type: 'integer', ...(description === '' ? {} : { description }), ...more }
}

export function boolean(description = '', more: Schema = {}): Schema {
  return { type: 'boolean', ...(description === '' ? {} : { description }), ...more }
}

export function arrayOf(items: Schema, description = ''): Schema {
  return { type: 'array', ...(description === '' ? {} : { description }), items }
}

export function mapOf(additionalProperties: Schema, description = ''): Schema {
  return { type: 'object', ...(description === '' ? {} : { description }), additionalProperties }
}

const metaGroup = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** Refers to a type of Kubernetes in the OpenAPI document of kube-apiserver. */
export function kubeRef(name: string, document = 'api/v1'): Schema {
  return { $ref: `/openapi/v3/${document}#/components/schemas/${name}` }
}

export const status = kubeRef(`${metaGroup}.Status`)

/** Any Kubernetes object; the parameter `fields` may remove any part of it. */
export const kubeObject = object(
  { apiVersion: text(), kind: text(), metadata: kubeRef(`${metaGroup}.ObjectMeta`) },
  ['apiVersion', 'kind', 'metadata'],
  'A Kubernetes object; its other fields depend on the kind.',
)

/** Refers to a custom resource by the schema name that kube-apiserver uses for it. */
export function customRef(group: string, version: string, kind: string): Schema {
  const reversed = group.split('.').reverse()
  const [last = '', ...domain] = reversed.toReversed()
  return kubeRef([...domain.reverse(), last, version, kind].join('.'), `apis/${group}/${version}`)
}
