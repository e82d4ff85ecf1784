import type { AuthenticatedExchange } from '../apirequest/request-context.ts'
import type { Call } from '../kubeclient/client.ts'

/** A response of kube-apiserver: its status code, and the JSON text of its body. */
export type Called = { readonly code: number; readonly text: string }

/**
 * Calls kube-apiserver as the caller of a request: RBAC, its escalation check and admission judge the caller, and its audit log
 * names the caller.
 *
 * @throws Status as kube-apiserver sent it; 503 where Kapis itself was refused
 */
export type CallAs = (
  exchange: AuthenticatedExchange,
  call: Pick<Call, 'method' | 'path' | 'body' | 'contentType'>,
) => Promise<Called>

/** Writes that reach kube-apiserver as the caller, with the parameters of the request (dryRun, fieldManager). */
export function withQueryOf({ rawQuery }: AuthenticatedExchange, path: string): string {
  return rawQuery === '' ? path : `${path}?${rawQuery}`
}
