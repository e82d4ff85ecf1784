import { badRequest } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'

/**
 * Returns whether a write is a dry run (`dryRun=All`).
 *
 * @throws Status 400 for a value that kube-apiserver does not support
 */
export function isDryRun({ query }: Pick<AuthenticatedExchange, 'query'>): boolean {
  const dryRun = query.get('dryRun')
  if (dryRun === null || dryRun === 'All') return dryRun === 'All'
  throw badRequest(`dryRun must be All, not ${JSON.stringify(dryRun)}`)
}
