import type { Paths } from '../../../openapi/operation.ts'
import { logOperation } from '../../logs/description.ts'

/** `/kapis/tenant.<group domain>/v1alpha2`: a row for each route of the face. */
export const tenantPaths = {
  '/logs': { get: logOperation('Log lines: query, statistics, histogram, export, live tail and context') },
} satisfies Paths
