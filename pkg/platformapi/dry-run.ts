import { badRequest } from '../apierrors/status.ts'
import type { AuthenticatedExchange } from '../apirequest/request-context.ts'

/**
 * Whether the query of a write asks to keep nothing (`dryRun=All`).
 *
 * @throws Status 400 for a dryRun that kube-apiserver does not have either
 */
export function isDryRun({ query }: Pick<AuthenticatedExchange, 'query'>): boolean {
  const dryRun = query.get('dryRun')
  if (dryRun === null || dryRun === 'All') return dryRun === 'All'
  throw badRequest(`dryRun must be All, not ${JSON.stringify(dryRun)}`)
}
