import type { IncomingMessage } from 'node:http'
import { Status, unauthorized, unavailable } from '../apierrors/status.ts'
import { createSharedResult } from '../cache/shared-result.ts'
import type { KubeClient } from '../kubeclient/client.ts'
import type { Authentication } from './authenticator.ts'

const keepMs = 10_000
const failedForMs = 1_000
// kube-apiserver has no such path, so no configuration allows it to anonymous callers separately
// (AuthenticationConfiguration, anonymous.conditions).
const path = '/kapis'

/**
 * Creates a function that reports whether kube-apiserver accepts requests without a credential
 * (`--anonymous-auth`). The function throws a Status 503 if kube-apiserver is not responding.
 *
 * @param client a client without the credential of Kapis
 */
export function createAnonymousCheck(client: Pick<KubeClient, 'call'>): () => Promise<boolean> {
  async function review(): Promise<boolean> {
    try {
      await client.call({ path, timeoutMs: 5_000 })
    } catch (error) {
      if (!(error instanceof Status) || error.code >= 500)
        throw unavailable('kube-apiserver is not responding', error)
      return error.code !== 401
    }
    return true
  }
  return createSharedResult(review, { keepMs, failedForMs })
}

type Authenticate = (req: IncomingMessage) => Promise<Authentication> | Authentication

/**
 * Rejects anonymous callers if kube-apiserver rejects them. Otherwise Kapis would request as
 * system:anonymous for them, by impersonation and access reviews, with all permissions of that
 * user. The returned function throws a Status like `authenticate`, and 401 or 503 for anonymous
 * callers.
 */
export function withAnonymousCheck(
  authenticate: Authenticate,
  isAllowed: () => Promise<boolean>,
): Authenticate {
  async function check(found: Authentication): Promise<Authentication> {
    if (await isAllowed()) return found
    throw unauthorized()
  }
  const admit = (found: Authentication) => (found.method === 'anonymous' ? check(found) : found)
  return req => {
    const found = authenticate(req)
    return found instanceof Promise ? found.then(admit) : admit(found)
  }
}
