import { operation } from '../../openapi/kube-errors.ts'
import { json, ok, type Paths, query, requiredQuery, segment } from '../../openapi/operation.ts'
import { anyObject, arrayOf, boolean, integer, kubeRef, object, text } from '../../openapi/schema.ts'

const namespace = segment('namespace', 'Namespace of the Secret.')
const login = query(
  'secret',
  'Name of a Secret in the namespace with the login; the caller must be allowed to read it.',
)
const secret = kubeRef('io.k8s.api.core.v1.Secret')

/** OpenAPI descriptions of the paths in serve.ts. */
export const registryPaths = {
  '/namespaces/{namespace}/registrysecrets/{secret}/verify': {
    post: operation(
      'Verifies each registry login in a Secret',
      ok(secret, 'All logins are valid; returns the Secret unchanged.'),
      {
        parameters: [namespace, segment('secret', 'The name of the Secret, which need not exist yet.')],
        body: { content: json(secret) },
        errors: [404, 413],
      },
    ),
  },
  '/namespaces/{namespace}/imageconfig': {
    get: operation(
      'Reads the configuration of an image from its registry',
      ok(anyObject('Image configuration of the OCI image specification.')),
      {
        parameters: [namespace, requiredQuery('image', 'The reference of the image.'), login],
        errors: [404],
      },
    ),
  },
  '/namespaces/{namespace}/repositorytags': {
    get: operation(
      'Lists the tags of a repository',
      ok(object({ registry: text(), repository: text(), tags: arrayOf(text()), total: integer() })),
      {
        parameters: [
          namespace,
          requiredQuery('repository', 'Registry and repository, such as docker.io/library/nginx.'),
          login,
          query('page', 'Pages count from 1.', integer('', { minimum: 1, default: 1 })),
          query(
            'limit',
            'Maximum number of tags per page; -1 for all.',
            integer('', { minimum: -1, default: -1 }),
          ),
          query('ascending', 'Sorts by name in ascending order.', boolean('', { default: false })),
        ],
        errors: [404],
      },
    ),
  },
} satisfies Paths
