import type { IncomingMessage } from 'node:http'
import { unauthorized } from '../apierrors/status.ts'

/**
 * Rejects Authorization headers with different values: their order must not determine the caller.
 * Elasticsearch's client for Node.js repeats the header that its user sets.
 *
 * @throws Status 401
 */
export function assertOneAuthorization({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void {
  let first: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length !== 13 || name.toLowerCase() !== 'authorization') continue
    const value = rawHeaders[i + 1]
    if (first !== undefined && value !== first)
      throw unauthorized('the Authorization header is given twice with different values')
    first = value
  }
}
