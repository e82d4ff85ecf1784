import { callers, kubeErrors } from '../../../openapi/kube-errors.ts'
import { type Operation, type Parameter, type Paths, segment } from '../../../openapi/operation.ts'

/** A route of 3.4 that answers nothing but a 404, whose message says what is to be used. */
function replaced(instead: string, parameters: readonly Parameter[] = []): Operation {
  return {
    summary: 'Removed',
    description: `Always 404. ${instead}`,
    parameters,
    answers: kubeErrors(404),
    security: callers,
  }
}

const namespace = segment('namespace', 'The namespace.')
const router = replaced('Use the Ingresses and Services of the ingress controller.', [namespace])

/** What v1alpha2 of 3.4 served and this one does not; `replacements` has the message of each. */
export const replacedPaths = {
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
