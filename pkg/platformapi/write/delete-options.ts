import type { IncomingMessage } from 'node:http'
import { badRequest } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { hasBody } from '../../httpserver/request/has-body.ts'
import { stringifyExactly } from '../../json/stringify.ts'
import { isRecord } from '../../kubeclient/object/object.ts'
import { isDryRun } from './dry-run.ts'
import { readJson } from './json-body.ts'

/** metav1.DeleteOptions for kube-apiserver; empty fields are omitted. */
export type DeleteOptions = Readonly<Record<string, unknown>>

const members = [
  ...['apiVersion', 'kind', 'dryRun', 'preconditions', 'gracePeriodSeconds'],
  ...['propagationPolicy', 'orphanDependents'],
]
// kubectl and client-go send JSON; other clients may send no Content-Type.
const mediaTypes = ['application/json', '']

/** Parses the body of a DELETE. @returns undefined if empty @throws Status 400, 413, 415 */
export async function readDeleteOptions(
  req: IncomingMessage,
): Promise<{ readonly options: DeleteOptions; readonly isDryRun: boolean } | undefined> {
  if (!hasBody(req)) return undefined
  return parseDeleteOptions(await readJson(req, mediaTypes))
}

/**
 * Returns the body for the proxied DELETE; none without options. Includes `dryRun` of the query,
 * since kube-apiserver ignores the query of a DELETE with a body.
 *
 * @throws Status 400 for an invalid dryRun in the query
 */
export function toDeleteBody(
  exchange: Pick<AuthenticatedExchange, 'query'>,
  deleteOptions: Awaited<ReturnType<typeof readDeleteOptions>>,
): { body?: object } {
  const isTried = isDryRun(exchange)
  if (deleteOptions === undefined) return {}
  const dryRun = isTried || deleteOptions.isDryRun ? { dryRun: ['All'] } : {}
  return { body: { kind: 'DeleteOptions', apiVersion: 'v1', ...deleteOptions.options, ...dryRun } }
}

/** @throws Status 400 */
export function parseDeleteOptions(body: unknown): {
  readonly options: DeleteOptions
  readonly isDryRun: boolean
} {
  if (!isRecord(body)) throw badRequest('the body must be DeleteOptions as a JSON object')
  const { apiVersion: _, kind = 'DeleteOptions', dryRun = [], ...options } = body
  if (kind !== 'DeleteOptions') throw badRequest('the body must be DeleteOptions')
  for (const name of Object.keys(body))
    if (!members.includes(name))
      throw badRequest(`unknown field ${JSON.stringify(name)}; supported: ${members.join(', ')}`)
  const stages: readonly unknown[] = Array.isArray(dryRun) ? dryRun : [dryRun]
  if (!stages.every(stage => stage === 'All'))
    throw badRequest(`invalid dryRun ${stringifyExactly(dryRun)}: expected ["All"]`)
  return { options, isDryRun: stages.length > 0 }
}
