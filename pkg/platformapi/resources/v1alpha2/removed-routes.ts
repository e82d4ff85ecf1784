import { methodNotAllowed, type Status, unknownResource } from '../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../apirequest/request-context.ts'
import type { RequestInfo } from '../../../apirequest/request-info.ts'
import type { PathRow } from '../../../openapi/operation.ts'
import { routeOf } from '../../../openapi/route.ts'
import { commandLine } from '../../../shell/command-line.ts'
import { removedRoutePaths } from './removed-routes-description.ts'

/** Replacements for KubeSphere 3.4 routes that are not served. */
const replacements: Readonly<Record<keyof typeof removedRoutePaths, (info: RequestInfo) => string>> = {
  '/git/verify': () =>
    'verification of git credentials is not supported: use git ls-remote where the repository is needed',
  '/registry/verify': ({ group }) =>
    `verification of registry logins is not served in v1alpha2: use POST /kapis/${group}/v1alpha3/namespaces/{namespace}/registrysecrets/{secret}/verify`,
  '/registry/blob': ({ group }) =>
    `image configurations are not served in v1alpha2: use GET /kapis/${group}/v1alpha3/namespaces/{namespace}/imageconfig`,
  '/users/{user}/kubectl': ({ group, name }) =>
    `kubectl pods are not supported: use your own kubectl with the kubeconfig of /kapis/${group}/v1alpha2/users/${name}/kubeconfig`,
  '/namespaces/{namespace}/router': ({ namespace }) =>
    `routers are not supported: use the Ingresses and Services of the ingress controller, such as /apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`,
  '/namespaces/{namespace}/{resource}/{name}/revisions/{revision}': ({ namespace, resource, name, parts }) =>
    resource === 'deployments' || resource === 'daemonsets' || resource === 'statefulsets'
      ? `revisions are not supported: use ${commandLine('kubectl', 'rollout', 'history', `${resource}/${name}`, '-n', namespace, `--revision=${parts.at(-1)}`)}`
      : `${resource} have no revisions: deployments, daemonsets and statefulsets do, and kubectl rollout history shows them`,
}

/** Returns the 404 or 405 of a removed KubeSphere route; undefined for other paths. */
export function rejectRemovedRoute({ req, info }: AuthenticatedExchange): Status | undefined {
  const row = routeOf<PathRow>(removedRoutePaths, info.parts)
  const instead = routeOf(replacements, info.parts)
  if (row === undefined || instead === undefined) return undefined
  const methods = Object.keys(row).map(method => method.toUpperCase())
  const allowed = methods.includes('GET') ? ['HEAD', ...methods] : methods
  return allowed.includes(req.method ?? '') ? unknownResource(instead(info)) : methodNotAllowed(allowed)
}
