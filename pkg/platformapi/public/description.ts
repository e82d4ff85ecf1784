import { publicErrors } from '../../openapi/kube-errors.ts'
import { ok, type Paths } from '../../openapi/operation.ts'
import { anyObject, arrayOf, boolean, mapOf, object, text } from '../../openapi/schema.ts'

const texts = ['gitCommit', 'gitTreeState', 'goVersion', 'compiler', 'platform', 'kapisVersion'] as const
const named = Object.fromEntries(texts.map(name => [name, text()]))

const version = object(
  {
    ...named,
    gitVersion: text('The version of the API of KubeSphere.'),
    gitMajor: text(),
    gitMinor: text(),
    kubernetes: anyObject('The version of kube-apiserver.'),
  },
  [...texts, 'kubernetes'],
)

/** OpenAPI descriptions of the public documents. */
export function publicPaths(groupDomain: string) {
  const configs = `/kapis/config.${groupDomain}/v1alpha2/configs`
  const documents: Paths = {
    '/kapis/version': {
      get: {
        summary: 'Versions of the API contract, the program and kube-apiserver',
        responses: { ...ok(version), ...publicErrors() },
        security: ['none'],
      },
    },
    [`${configs}/configz`]: {
      get: {
        summary: 'Enabled features of the platform',
        responses: { ...ok(mapOf(boolean())), ...publicErrors() },
        security: ['none'],
      },
    },
    [`${configs}/gpu/kinds`]: {
      get: {
        summary: 'Configured GPU types: always empty',
        responses: { ...ok(arrayOf(anyObject('A kind.'))), ...publicErrors() },
        security: ['none'],
      },
    },
  }
  return documents
}
