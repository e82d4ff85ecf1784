import type { ServedGroup } from '../discovery/served-group.ts'
import { type Operation, operationsOf, type Parameter } from './openapi-operations.ts'
import { type Dialect, schemaName, type WriteRef, writeSchemas } from './openapi-schemas.ts'
import type { Schemas } from './schema/schema.ts'

const writeRef: WriteRef = (name, siblings) => ({ ...siblings, $ref: `#/definitions/${name}` })

// Like kube-apiserver, describes quantities and int-or-string as strings, and omits defaults.
const dialect: Dialect = { ref: writeRef, oneOf: () => ({ type: 'string' }), values: () => ({}) }

/**
 * Renders the groups as Swagger 2.0 with standard keys and `x-` extensions only. kube-apiserver
 * merges it into the document of the whole cluster, and cannot serve that as protobuf if it
 * contains any other key.
 */
export function toSwagger(groups: readonly ServedGroup[], known: Schemas, title: string) {
  const paths = groups.flatMap(served =>
    operationsOf(served).map(operation => [operation.path, itemOf(served, operation)] as const),
  )
  const definitions = groups.map(served => writeSchemas(served, known, dialect))
  return {
    swagger: '2.0',
    info: { title, version: 'v1' },
    paths: Object.fromEntries(paths),
    definitions: Object.assign({}, ...definitions),
  }
}

type PathItem = { readonly [method in Operation['method']]?: ReturnType<typeof writeOperation> }

function itemOf(served: ServedGroup, operation: Operation): PathItem {
  return { [operation.method]: writeOperation(served, operation) }
}

function writeOperation(served: ServedGroup, operation: Operation) {
  const { group, version } = served
  const isWatch = operation.action !== 'get' && operation.action !== 'post'
  const body = {
    name: 'body',
    in: 'body',
    required: true,
    schema: writeRef(schemaName(served, operation.body), {}),
  }
  return {
    tags: [`${group}_${version}`],
    description: operation.description,
    operationId: operation.id,
    consumes: ['*/*'],
    produces: ['application/json', 'application/yaml', ...(isWatch ? ['application/json;stream=watch'] : [])],
    schemes: ['https'],
    parameters: [...(operation.body === '' ? [] : [body]), ...operation.parameters.map(writeParameter)],
    responses: {
      [operation.body === '' ? 200 : 201]: {
        description: operation.body === '' ? 'OK' : 'Created',
        schema: writeRef(schemaName(served, operation.response), {}),
      },
      401: { description: 'Unauthorized' },
      default: { description: 'Failure', schema: writeRef(schemaName(served, 'Status'), {}) },
    },
    ...(operation.isDeprecated ? { deprecated: true } : {}),
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': { group, kind: operation.kind, version },
  }
}

function writeParameter({ name, in: place, type, description }: Parameter) {
  return {
    name,
    in: place,
    type,
    description,
    uniqueItems: true,
    ...(place === 'path' ? { required: true } : {}),
  }
}
