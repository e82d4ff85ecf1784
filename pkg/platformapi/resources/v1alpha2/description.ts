import { callers, kubeErrors } from '../../../openapi/kube-errors.ts'
import { ok, type Paths, segment } from '../../../openapi/operation.ts'
import { integer, mapOf, object, text } from '../../../openapi/schema.ts'
import { componentPaths } from '../../components-description.ts'
import { replacedPaths } from './removed-routes-description.ts'

const counts = mapOf(text(), 'By the names that ResourceQuota has.')
const quotas = object({ namespace: text(), data: object({ hard: counts, used: counts }) })
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

/** `/kapis/resources.<group domain>/v1alpha2`: what serveOldResources answers. */
export const oldResourcePaths = {
  ...componentPaths,
  ...replacedPaths,
  '/abnormalworkloads': {
    get: {
      summary: 'How many workloads of the cluster are not as they are meant to be',
      description: 'Workloads that are updating, claims that are Pending or Lost, jobs that have failed.',
      answers: { ...ok(abnormal), ...kubeErrors() },
      security: callers,
    },
  },
  '/namespaces/{namespace}/abnormalworkloads': {
    get: {
      summary: 'The same of a namespace',
      parameters: [segment('namespace', 'The namespace.')],
      answers: { ...ok(abnormal), ...kubeErrors() },
      security: callers,
    },
  },
  '/quotas': {
    get: {
      summary: 'What the cluster holds, counted',
      answers: { ...ok(quotas), ...kubeErrors() },
      security: callers,
    },
  },
  '/namespaces/{namespace}/quotas': {
    get: {
      summary: 'What a namespace holds and may hold',
      description: 'Of several ResourceQuotas on one thing the tightest counts.',
      parameters: [segment('namespace', 'The namespace.')],
      answers: { ...ok(quotas), ...kubeErrors() },
      security: callers,
    },
  },
  '/users/{user}/kubeconfig': {
    get: {
      summary: 'A kubeconfig by which kubectl logs in through the platform',
      description: 'It holds no credential: kubectl runs `kapis get-token`. Users may get their own.',
      parameters: [segment('user', 'The name of the user.')],
      answers: {
        200: { description: 'The kubeconfig.', content: { 'text/yaml': { schema: text() } } },
        ...kubeErrors(404),
      },
      security: callers,
    },
  },
} satisfies Paths
