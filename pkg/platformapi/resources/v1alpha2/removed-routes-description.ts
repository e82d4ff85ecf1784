import { operation } from '../../../openapi/kube-errors.ts'
import { type Operation, type Parameter, type Paths, segment } from '../../../openapi/operation.ts'

/** Returns the description of a KubeSphere route that responds with 404 and a replacement. */
function replaced(instead: string, parameters: readonly Parameter[] = []): Operation {
  return operation('Removed route', {}, { description: `Always 404. ${instead}`, parameters, errors: [404] })
}

const namespace = segment('namespace', 'The namespace.')
const router = replaced('Use the Ingresses and Services of the ingress controller.', [namespace])

/** The removed routes of v1alpha2, with the replacement of each. */
export const removedRoutePaths = {
  '/git/verify': { post: replaced('Use git ls-remote where the repository is needed.') },
  '/registry/verify': { post: replaced('Use registrysecrets of v1alpha3.') },
  '/registry/blob': { get: replaced('Use imageconfig of v1alpha3.') },
  '/users/{user}/kubectl': {
    get: replaced('Use the kubeconfig with your own kubectl.', [segment('user', 'The name of the user.')]),
  },
  '/namespaces/{namespace}/router': { get: router, post: router, put: router, delete: router },
  '/namespaces/{namespace}/{resource}/{name}/revisions/{revision}': {
    get: replaced('Use kubectl rollout history.', [
      namespace,
      segment('resource', 'deployments, daemonsets or statefulsets.'),
      segment('name', 'The name of the workload.'),
      segment('revision', 'The number of the revision.'),
    ]),
  },
} satisfies Paths
