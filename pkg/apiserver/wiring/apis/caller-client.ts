import { unavailable } from '../../../apierrors/status.ts'
import type { WebSocketEvents } from '../../../http/web-socket-client.ts'
import { passWarning } from '../../../httpserver/response/warning.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { readText } from '../../../kubeclient/client.ts'
import { isAboutAccount } from '../../../kubeclient/errors/service-account-errors.ts'
import { type OpenChannels, terminalPath } from '../../../kubeclient/pod-channels.ts'
import type { OpenExec } from '../../../platformapi/terminal/v1alpha2/serve.ts'
import type { CallAs } from '../../../platformapi/write/as-caller.ts'
import { toImpersonation } from '../../../proxy/identity-headers.ts'
import type { SessionRecording } from '../../../proxy/session-recording.ts'

/** Creates a client that calls kube-apiserver as the caller, and passes on warnings. */
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
    }).catch(throwOwn)
    return { code, text }
  }
}

/** Creates a function that runs commands in containers as the caller, with recordings. */
export function createOpenExec(
  openChannels: OpenChannels,
  recording: Pick<SessionRecording, 'openExec'>,
): OpenExec {
  return (exchange, target, events) => {
    const headers = [...toImpersonation(exchange.identity), 'Audit-Id', exchange.id]
    const open = (opened: WebSocketEvents) =>
      openChannels({ path: terminalPath(target), headers }, opened).catch(throwOwn)
    return recording.openExec(exchange, target, { open, events })
  }
}

/** @throws Status 503 if kube-apiserver has rejected Kapis, otherwise the error */
function throwOwn(error: unknown): never {
  throw isAboutAccount(error)
    ? unavailable('the Kapis service account is not allowed to impersonate the caller', error)
    : error
}
