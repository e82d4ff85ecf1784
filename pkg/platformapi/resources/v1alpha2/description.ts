import { operation } from '../../../openapi/kube-errors.ts'
import { ok, type Paths, segment } from '../../../openapi/operation.ts'
import { integer, mapOf, object, text } from '../../../openapi/schema.ts'
import { componentPaths } from '../../components/description.ts'
import { removedRoutePaths } from './removed-routes-description.ts'

const counts = mapOf(text(), 'Amounts by the resource names of ResourceQuota.')
const quotas = object({ namespace: text(), data: object({ hard: counts, used: counts }) })
const namespaceQuotas = object({
  namespace: text(),
  data: object({ hard: counts, used: counts, left: counts }),
})
const abnormal = object({
  namespace: text(),
  data: object({
    deployments: integer(),
    statefulsets: integer(),
    daemonsets: integer(),
    persistentvolumeclaims: integer(),
    jobs: integer(),
  }),
})

/** OpenAPI descriptions of `/kapis/resources.<group domain>/v1alpha2`. */
export const oldResourcePaths = {
  ...componentPaths,
  ...removedRoutePaths,
  '/abnormalworkloads': {
    get: operation('Counts unhealthy workloads of the cluster', ok(abnormal), {
      description:
        'Workloads that are updating, persistent volume claims that are Pending or Lost, jobs that have failed.',
    }),
  },
  '/namespaces/{namespace}/abnormalworkloads': {
    get: operation('Counts unhealthy workloads of a namespace', ok(abnormal), {
      parameters: [segment('namespace', 'The namespace.')],
    }),
  },
  '/quotas': {
    get: operation('Counts the objects of the cluster', ok(quotas)),
  },
  '/namespaces/{namespace}/quotas': {
    get: operation('Counts the objects of a namespace, with its quota', ok(namespaceQuotas), {
      description: 'If several ResourceQuotas limit the same resource, the lowest limit is returned.',
      parameters: [segment('namespace', 'The namespace.')],
    }),
  },
  '/users/{user}/kubeconfig': {
    get: operation(
      'Returns a kubeconfig with which kubectl logs in to the platform',
      { 200: { description: 'The kubeconfig.', content: { 'text/yaml': { schema: text() } } } },
      {
        description: 'It contains no credential: kubectl runs `kapis get-token`. Users may read their own.',
        parameters: [segment('user', 'The name of the user.')],
        errors: [404],
      },
    ),
  },
} satisfies Paths
