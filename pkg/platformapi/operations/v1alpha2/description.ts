import { operation } from '../../../openapi/kube-errors.ts'
import { type Paths, query, requiredQuery, segment, success } from '../../../openapi/operation.ts'
import { oneOfTexts } from '../../../openapi/schema.ts'

/** OpenAPI descriptions of operations on jobs, below `/kapis/operations.<group domain>`. */
export const operationPaths = {
  '/namespaces/{namespace}/jobs/{job}': {
    post: operation('Runs a Job again: deletes it and creates it again, as the caller', success, {
      parameters: [
        segment('namespace', 'The name of the namespace.'),
        segment('job', 'The name of the Job.'),
        requiredQuery('action', 'What to do.', oneOfTexts(['rerun'])),
        requiredQuery('resourceVersion', 'The version of the Job; 409 if it has another one.'),
        query('dryRun', 'All: validates the request without storing anything.', oneOfTexts(['All'])),
      ],
      errors: [404, 409, 422],
    }),
  },
} satisfies Paths
