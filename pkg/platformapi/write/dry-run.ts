import { badRequest } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'

/** Returns whether a write is a dry run. @throws Status 400 for an unsupported value */
export function isDryRun({ query }: Pick<AuthenticatedExchange, 'query'>): boolean {
  const dryRun = query.get('dryRun')
  if (dryRun === null || dryRun === 'All') return dryRun === 'All'
  throw badRequest(`dryRun must be All, not ${JSON.stringify(dryRun)}`)
}
