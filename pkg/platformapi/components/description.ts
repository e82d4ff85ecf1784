import { operation } from '../../openapi/kube-errors.ts'
import { ok, type Paths, segment } from '../../openapi/operation.ts'
import { anyObject, arrayOf, integer, object, text } from '../../openapi/schema.ts'

const component = object({
  name: text(),
  namespace: text(),
  selfLink: text('Path of the Service of the component.'),
  label: anyObject('Selector of its Service.'),
  startedAt: text('Creation time of the Service of the component.'),
  totalBackends: integer('Pods of the Service.'),
  healthyBackends: integer('Pods that are ready.'),
})

const health = object({
  kubesphereStatus: arrayOf(component),
  nodeStatus: object({ totalNodes: integer(), healthyNodes: integer() }),
})

/** OpenAPI descriptions of the paths in serve.ts, in both versions of the API. */
export const componentPaths = {
  '/components': {
    get: operation('Lists the platform components with the number of ready pods', ok(arrayOf(component))),
  },
  '/components/{component}': {
    get: operation('Reads one platform component', ok(component), {
      parameters: [segment('component', 'Name of the Service of the component.')],
      errors: [404],
    }),
  },
  '/componenthealth': {
    get: operation('Counts platform components and nodes', ok(health)),
  },
} satisfies Paths
