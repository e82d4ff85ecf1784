import { callers, kubeErrors } from '../openapi/kube-errors.ts'
import { ok, type Paths, segment } from '../openapi/operation.ts'
import { anyObject, arrayOf, integer, object, text } from '../openapi/schema.ts'

const component = object({
  name: text(),
  namespace: text(),
  selfLink: text('The path of its Service.'),
  label: anyObject('The selector of its Service.'),
  startedAt: text('When its Service was made.'),
  totalBackends: integer('Pods behind it.'),
  healthyBackends: integer('Those that are ready.'),
})

const health = object({
  kubesphereStatus: arrayOf(component),
  nodeStatus: object({ totalNodes: integer(), healthyNodes: integer() }),
})

/** What serveComponents answers, in both versions. */
export const componentPaths = {
  '/components': {
    get: {
      summary: 'The parts of the platform, and how many pods behind each are ready',
      answers: { ...ok(arrayOf(component)), ...kubeErrors() },
      security: callers,
    },
  },
  '/components/{component}': {
    get: {
      summary: 'One part of the platform',
      parameters: [segment('component', 'The name of its Service.')],
      answers: { ...ok(component), ...kubeErrors(404) },
      security: callers,
    },
  },
  '/componenthealth': {
    get: {
      summary: 'All parts and the nodes, counted',
      answers: { ...ok(health), ...kubeErrors() },
      security: callers,
    },
  },
} satisfies Paths
