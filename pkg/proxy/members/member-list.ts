import type { IncomingHttpHeaders } from 'node:http'
import { Status, unavailable } from '../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'
import { formatTarget } from '../../apirequest/target.ts'
import { type KubeClient, readText } from '../../kubeclient/client.ts'
import { isAboutAccount } from '../../kubeclient/errors/service-account-errors.ts'
import { type ListPage, parseListPage } from '../../kubeclient/list/list-page.ts'
import { toImpersonation } from '../identity-headers.ts'
import { upstreamFailure } from '../upstream-failure.ts'
import { toMemberIdentity } from './member-identity.ts'
import { isLoop, loopDetected, via } from './member-proxy.ts'

export type MemberListLimits = {
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Receives the response headers. */
  readonly onResponse?: (code: number, headers: IncomingHttpHeaders) => void
}

/** Reads a list of the Kapis in a member cluster as the caller. @throws Status */
export type ReadMemberList = (
  exchange: Pick<AuthenticatedExchange, 'req' | 'id' | 'identity' | 'rawPath' | 'rawQuery'>,
  limits: MemberListLimits,
) => Promise<ListPage>

export function createMemberList(
  name: string,
  kapis: KubeClient | { readonly problem: string },
): ReadMemberList {
  const where = `the cluster ${JSON.stringify(name)}`
  return async ({ req, id, identity, ...target }, limits) => {
    if (isLoop(req.headers.via)) throw loopDetected(where)
    if ('problem' in kapis) throw unavailable(`${where} does not serve /kapis: ${kapis.problem}`)
    const headers = [...toImpersonation(toMemberIdentity(identity)), 'Audit-Id', id, ...via]
    const text = await readText(kapis, { path: formatTarget(target), headers, ...limits }).catch(error => {
      throw toMemberError(where, error)
    })
    try {
      return parseListPage(text)
    } catch (error) {
      throw unavailable(`the Kapis of ${where} returned a list that is not valid`, error)
    }
  }
}

function toMemberError(where: string, error: unknown): unknown {
  if (!(error instanceof Status)) return error
  if (isAboutAccount(error))
    return unavailable(
      `the account of the kubeconfig of ${where} is not allowed to impersonate the caller`,
      error,
    )
  if (error.cause !== undefined) return upstreamFailure(`the Kapis of ${where}`, error.cause)
  // The response was not a Status. The address may be that of any server, so its text is not shown.
  if (error.reason === 'InternalError')
    return new Status(502, 'ServiceUnavailable', `the Kapis of ${where} responded with ${error.code}`)
  return error
}
