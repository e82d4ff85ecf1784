import type { ServedGroup } from '../discovery/served-group.ts'
import { type Operation, operationsOf, type Parameter } from './openapi-operations.ts'
import { type Dialect, schemaName, type WriteRef, writeSchemas } from './openapi-schemas.ts'
import type { Schemas } from './schema/schema.ts'

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

// OpenAPI 3.0 ignores keywords next to $ref. A reference in allOf preserves them, and kubectl
// explain supports this form.
const writeRef: WriteRef = (name, siblings) =>
  Object.keys(siblings).length === 0 ? reference(name) : { ...siblings, allOf: [reference(name)] }

const dialect: Dialect = { ref: writeRef, oneOf: oneOf => ({ oneOf }), values: values => values }

export function toOpenApi3(served: ServedGroup, known: Schemas, title: string) {
  const paths = operationsOf(served).map(operation => [operation.path, itemOf(served, operation)] as const)
  return {
    openapi: '3.0.0',
    info: { title, version: 'v1' },
    paths: Object.fromEntries(paths),
    components: { schemas: writeSchemas(served, known, dialect) },
  }
}

type PathItem = { readonly [method in Operation['method']]?: ReturnType<typeof writeOperation> }

function itemOf(served: ServedGroup, operation: Operation): PathItem {
  return { [operation.method]: writeOperation(served, operation) }
}

function writeOperation(served: ServedGroup, operation: Operation) {
  const { group, version } = served
  const response = { schema: reference(schemaName(served, operation.response)) }
  const failure = { schema: reference(schemaName(served, 'Status')) }
  const isWatch = operation.action !== 'get' && operation.action !== 'post'
  const isCreate = operation.body !== ''
  const body = { schema: reference(schemaName(served, operation.body)) }
  const streamed = !isWatch ? {} : { 'application/json;stream=watch': response }
  return {
    tags: [`${group}_${version}`],
    description: operation.description,
    operationId: operation.id,
    parameters: operation.parameters.map(writeParameter),
    ...(isCreate ? { requestBody: { required: true, content: bodyContent(body) } } : {}),
    responses: {
      [isCreate ? 201 : 200]: {
        description: isCreate ? 'Created' : 'OK',
        content: { 'application/json': response, 'application/yaml': response, ...streamed },
      },
      401: { description: 'Unauthorized' },
      default: { description: 'Failure', content: { 'application/json': failure } },
    },
    ...(operation.isDeprecated ? { deprecated: true } : {}),
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': { group, kind: operation.kind, version },
  }
}

function bodyContent(body: object) {
  return { 'application/json': body, 'application/yaml': body }
}

function writeParameter({ name, in: place, type, description }: Parameter) {
  return { name, in: place, description, ...(place === 'path' ? { required: true } : {}), schema: { type } }
}
