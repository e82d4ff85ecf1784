import { callers, kubeErrors } from '../../openapi/kube-errors.ts'
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
    post: {
      summary: 'Verifies each registry login in a Secret',
      parameters: [namespace, segment('secret', 'The name of the Secret, which need not exist yet.')],
      body: { content: json(secret) },
      answers: {
        ...ok(secret, 'All logins are valid; returns the Secret unchanged.'),
        ...kubeErrors(404, 413),
      },
      security: callers,
    },
  },
  '/namespaces/{namespace}/imageconfig': {
    get: {
      summary: 'Reads the configuration of an image from its registry',
      parameters: [namespace, requiredQuery('image', 'The reference of the image.'), login],
      answers: {
        ...ok(anyObject('Image configuration of the OCI image specification.')),
        ...kubeErrors(404),
      },
      security: callers,
    },
  },
  '/namespaces/{namespace}/repositorytags': {
    get: {
      summary: 'Lists the tags of a repository',
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
      answers: {
        ...ok(object({ registry: text(), repository: text(), tags: arrayOf(text()), total: integer() })),
        ...kubeErrors(404),
      },
      security: callers,
    },
  },
} satisfies Paths
