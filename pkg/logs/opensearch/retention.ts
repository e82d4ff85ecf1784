import { isRecord } from '../../kubeclient/object/object.ts'
import type { SearchClient } from './client.ts'

const dayMs = 86_400_000
const withinMs = 30_000

/**
 * Deletes the indices of expired days.
 *
 * @param days number of days (UTC) to keep, including today
 * @returns the names of the deleted indices
 * @throws Status 503, 504 if the search engine fails
 */
export async function deleteExpired(
  client: SearchClient,
  prefix: string,
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
): Promise<readonly string[]> {
  // Ignores missing indices, because another replica may delete some concurrently.
  const querystring = { ignore_unavailable: 'true' }
  const path = `/${prefix}-*/_alias`
  const response = await client.call({ method: 'GET', path, querystring, timeoutMs: withinMs })
  const expired = findExpired(Object.keys(isRecord(response) ? response : {}), prefix, { days, nowMs })
  for (const name of expired) {
    await client.call({ method: 'DELETE', path: `/${name}`, querystring, timeoutMs: withinMs })
  }
  return expired
}

/** Returns the indices to delete: those of past days; other indices do not belong to Kapis. */
export function findExpired(
  names: readonly string[],
  prefix: string,
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
): readonly string[] {
  const firstKept = Math.floor(nowMs / dayMs) - days + 1
  return names.filter(name => {
    const day = name.startsWith(`${prefix}-`) ? dayOf(name.slice(prefix.length + 1)) : undefined
    return day !== undefined && day < firstKept
  })
}

function dayOf(text: string): number | undefined {
  if (!/^\d{4}\.\d\d\.\d\d$/.test(text)) return undefined
  const date = text.replaceAll('.', '-')
  const ms = Date.parse(`${date}T00:00:00Z`)
  // Rejects dates such as the 31st of February, which Date converts.
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(date) ? undefined : ms / dayMs
}
