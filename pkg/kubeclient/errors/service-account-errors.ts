import { Status, unavailable } from '../../apierrors/status.ts'
import type { KubeClient } from '../client.ts'

/**
 * Returns a client for requests that Kapis sends with its own service account on behalf of callers.
 * Errors about the service account become 503, so that callers retry: 401 and 403, which
 * kube-apiserver may send while it starts, and 5xx. Errors about the object, and 429, are
 * unchanged.
 */
export function withServiceAccountErrors(client: KubeClient): KubeClient {
  const orUnavailable = (error: unknown): never => {
    throw isOwnError(error)
      ? unavailable('kube-apiserver did not serve the request of Kapis; retry later', error)
      : error
  }
  return {
    call: call => client.call(call).catch(orUnavailable),
    stream: call => client.stream(call).catch(orUnavailable),
    close: client.close,
  }
}

function isOwnError(error: unknown): boolean {
  if (!(error instanceof Status) || error.code === 503) return false
  const { code, message } = error
  // A 403 with another message comes from an admission webhook and is about the object.
  if (code === 403) return / is forbidden: User "[^"]*" cannot /.test(message) || isNotYetReady(message)
  return code === 401 || code >= 500
}

/**
 * Returns whether a 403 is the admission error for all writes until kube-apiserver has loaded its
 * policies. This 403 is temporary.
 */
export function isNotYetReady(message: string): boolean {
  return message.includes(' is forbidden: not yet ready to handle request')
}

/** Returns whether an error is about the account of Kapis, not about the caller. */
export function isAboutAccount(error: unknown): boolean {
  if (!(error instanceof Status)) return false
  const { code, message } = error
  return code === 401 || (code === 403 && (/ cannot impersonate /.test(message) || isNotYetReady(message)))
}
