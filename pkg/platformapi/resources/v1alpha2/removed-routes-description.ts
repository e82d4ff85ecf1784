import { callers, kubeErrors } from '../../../openapi/kube-errors.ts'
import { type Operation, type Parameter, type Paths, segment } from '../../../openapi/operation.ts'

/** A route of 3.4 that answers nothing but a 404, whose message says what is to be used. */
function replaced(instead: string, parameters: readonly Parameter[] = []): Operation {
  return {
    summary: 'Not served any more',
    description: `Always 404. ${instead}`,
    parameters,
    answers: kubeErrors(404),
    security: callers,
  }
}

const namespace = segment('namespace', 'The namespace.')
const router = replaced('Ingresses and Services of the ingress controller are there instead.', [namespace])

/** What v1alpha2 of 3.4 served and this one does not; `replacements` has the message of each. */
export const replacedPaths = {
  '/git/verify': { post: replaced('git ls-remote tries a login where the repository is to be read.') },
  '/registry/verify': { post: replaced('registrysecrets of v1alpha3 verify logins.') },
  '/registry/blob': { get: replaced('imageconfig of v1alpha3 reads the configuration of an image.') },
  '/users/{user}/kubectl': {
    get: replaced('The kubeconfig is for a kubectl of your own.', [segment('user', 'The name of the user.')]),
  },
  '/namespaces/{namespace}/router': { get: router, post: router, put: router, delete: router },
  '/namespaces/{namespace}/{resource}/{name}/revisions/{revision}': {
    get: replaced('kubectl rollout history shows revisions.', [
      namespace,
      segment('resource', 'deployments, daemonsets or statefulsets.'),
      segment('name', 'The name of the workload.'),
      segment('revision', 'The number of the revision.'),
    ]),
  },
} satisfies Paths
