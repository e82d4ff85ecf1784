import { callers, kubeErrors } from '../openapi/kube-errors.ts'
import { json, ok, type Paths, query, requiredQuery, segment } from '../openapi/operation.ts'
import { anyObject, arrayOf, boolean, integer, kubeRef, object, text } from '../openapi/schema.ts'

const namespace = segment('namespace', 'Where the Secret is.')
const login = query(
  'secret',
  'A Secret of the namespace with a login; the caller must be allowed to read it.',
)
const secret = kubeRef('io.k8s.api.core.v1.Secret')

/** What serveRegistries answers. */
export const registryPaths = {
  '/namespaces/{namespace}/registrysecrets/{secret}/verify': {
    post: {
      summary: 'Tries every login of a Secret at its registry',
      parameters: [namespace, segment('secret', 'The name of the Secret, which need not exist yet.')],
      body: { content: json(secret) },
      answers: { ...ok(secret, 'Every login is good; the Secret as it was sent.'), ...kubeErrors(404, 413) },
      security: callers,
    },
  },
  '/namespaces/{namespace}/imageconfig': {
    get: {
      summary: 'The configuration of an image, as its registry has it',
      parameters: [namespace, requiredQuery('image', 'The reference of the image.'), login],
      answers: { ...ok(anyObject('As the OCI image specification has it.')), ...kubeErrors(404) },
      security: callers,
    },
  },
  '/namespaces/{namespace}/repositorytags': {
    get: {
      summary: 'The tags of a repository',
      parameters: [
        namespace,
        requiredQuery('repository', 'Registry and repository, such as docker.io/library/nginx.'),
        login,
        query('page', 'Pages count from 1.', integer('', { minimum: 1, default: 1 })),
        query('limit', 'Tags of a page; -1 is everything.', integer('', { minimum: -1, default: -1 })),
        query('ascending', 'By name, from a to z.', boolean('', { default: false })),
      ],
      answers: {
        ...ok(object({ registry: text(), repository: text(), tags: arrayOf(text()), total: integer() })),
        ...kubeErrors(404),
      },
      security: callers,
    },
  },
} satisfies Paths
