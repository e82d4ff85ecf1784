import { Status, unavailable } from '../../../apierrors/status.ts'
import { passWarning } from '../../../httpserver/response/warning.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { readText } from '../../../kubeclient/client.ts'
import { isNotYetReady } from '../../../kubeclient/errors/service-account-errors.ts'
import type { CallAs } from '../../../platformapi/write/as-caller.ts'
import { toImpersonation } from '../../../proxy/identity-headers.ts'

/** A client that calls kube-apiserver as the caller of a request, and passes on warnings. */
export function createCallAs(client: KubeClient): CallAs {
  return async ({ identity, id, res }, call) => {
    let code = 0
    const text = await readText(client, {
      ...call,
      headers: [...toImpersonation(identity), 'Audit-Id', id],
      onResponse(status, { warning }) {
        code = status
        if (warning !== undefined) passWarning(res, warning)
      },
    }).catch((error: unknown) => {
      throw isAboutKapis(error)
        ? unavailable('the Kapis service account is not allowed to impersonate the caller', error)
        : error
    })
    return { code, text }
  }
}

/** Whether kube-apiserver has refused Kapis, and not its caller. */
function isAboutKapis(error: unknown): boolean {
  if (!(error instanceof Status)) return false
  const { code, message } = error
  return code === 401 || (code === 403 && (/ cannot impersonate /.test(message) || isNotYetReady(message)))
}
