import { Status, unavailable } from '../../apierrors/status.ts'
import type { KubeClient } from '../client.ts'

/**
 * A client for requests that Kapis makes with its own service account on behalf of callers. Errors
 * about the service account are not errors of the caller: at its start kube-apiserver may reject
 * its permissions (403) or credential (401), and 5xx is not the fault of the caller. All of them
 * become 503, so that callers retry; errors about the object, and 429, are unchanged.
 */
export function withServiceAccountErrors(client: KubeClient): KubeClient {
  const orUnavailable = (error: unknown): never => {
    throw isOwnRefusal(error)
      ? unavailable('kube-apiserver did not serve the request of Kapis; retry later', error)
      : error
  }
  return {
    call: call => client.call(call).catch(orUnavailable),
    stream: call => client.stream(call).catch(orUnavailable),
    close: client.close,
  }
}

function isOwnRefusal(error: unknown): boolean {
  if (!(error instanceof Status) || error.code === 503) return false
  const { code, message } = error
  // A 403 of an admission webhook is about the object.
  if (code === 403) return / is forbidden: User "[^"]*" cannot /.test(message) || isNotYetReady(message)
  return code === 401 || code >= 500
}

/**
 * The admission error for all writes until kube-apiserver has loaded its policies: a 403, but
 * temporary.
 */
export function isNotYetReady(message: string): boolean {
  return message.includes(' is forbidden: not yet ready to handle request')
}
