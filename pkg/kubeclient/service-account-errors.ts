import { Status, unavailable } from '../apierrors/status.ts'
import type { KubeClient } from './client.ts'

/**
 * The client for work that is done for callers as Kapis itself. What kube-apiserver says of Kapis is not said of the caller:
 * while it starts it does not know the rights of Kapis yet (403) or its credential (401), and when it fails (5xx) the caller
 * has done nothing wrong. All of it is 503, and the caller asks again; what is about the object, and 429, stay as they are.
 */
export function withOwnRefusals(client: KubeClient): KubeClient {
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

/** What admission says of every write until kube-apiserver has read what it judges by: a 403, and yet nobody's fault. */
export function isNotYetReady(message: string): boolean {
  return message.includes(' is forbidden: not yet ready to handle request')
}
