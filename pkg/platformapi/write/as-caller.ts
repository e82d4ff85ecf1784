import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import type { Call } from '../../kubeclient/client.ts'

/** A response of kube-apiserver: its status code, and the JSON text of its body. */
export type KubeResponse = { readonly code: number; readonly text: string }

/**
 * Sends a request to kube-apiserver as the caller: RBAC with its escalation check and admission
 * apply to the caller, and the audit log of kube-apiserver names the caller.
 *
 * @throws Status of kube-apiserver; 503 if kube-apiserver rejects the credential of Kapis itself
 */
export type CallAs = (
  exchange: AuthenticatedExchange,
  call: Pick<Call, 'method' | 'path' | 'body' | 'contentType'>,
) => Promise<KubeResponse>

/** Returns the path with parameters of the request (dryRun, fieldManager), for a write. */
export function withQueryOf({ rawQuery }: AuthenticatedExchange, path: string): string {
  return rawQuery === '' ? path : `${path}?${rawQuery}`
}
