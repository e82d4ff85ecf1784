import { unavailable } from '../../../apierrors/status.ts'
import type { AuthenticatedExchange } from '../../../apirequest/request-context.ts'
import type { WebSocketEvents } from '../../../http/web-socket-client.ts'
import { passWarning } from '../../../httpserver/response/warning.ts'
import type { KubeClient } from '../../../kubeclient/client.ts'
import { readText } from '../../../kubeclient/client.ts'
import {
  isAboutAccount,
  withServiceAccountErrors,
} from '../../../kubeclient/errors/service-account-errors.ts'
import { type OpenChannels, terminalPath } from '../../../kubeclient/pod-channels.ts'
import type { OpenExec } from '../../../platformapi/terminal/v1alpha2/serve.ts'
import type { CallAs, KubeResponse } from '../../../platformapi/write/as-caller.ts'
import { toImpersonation } from '../../../proxy/identity-headers.ts'
import type { SessionRecording } from '../../../proxy/session-recording.ts'

/** Creates a client that calls kube-apiserver as the caller, and passes on warnings. */
export function createCallAs(client: KubeClient): CallAs {
  return (exchange, call) =>
    send(client, exchange, { ...call, headers: toImpersonation(exchange.identity) }).catch(throwOwn)
}

/** Creates a client that calls kube-apiserver for callers, with the permissions of Kapis. */
export function createCallAsKapis(client: KubeClient): CallAs {
  const own = withServiceAccountErrors(client)
  return (exchange, call) => send(own, exchange, { ...call, headers: [] })
}

async function send(
  client: KubeClient,
  { id, res }: AuthenticatedExchange,
  { headers, ...call }: Parameters<CallAs>[1] & { readonly headers: readonly string[] },
): Promise<KubeResponse> {
  let code = 0
  const text = await readText(client, {
    ...call,
    headers: [...headers, 'Audit-Id', id],
    onResponse(status, { warning }) {
      code = status
      if (warning !== undefined) passWarning(res, warning)
    },
  })
  return { code, text }
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
