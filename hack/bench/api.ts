import { setTimeout as sleep } from 'node:timers/promises'
import { isStatus } from '../../pkg/apierrors/status.ts'
import { createKubeClient } from '../../pkg/kubeclient/client.ts'
import { createRetryingClient } from '../controlplane/retrying-client.ts'

/** Sends a request and returns the parsed response. @throws Status */
export type Call = (method: Method, path: string, body?: object, contentType?: string) => Promise<unknown>

type Method = 'GET' | 'POST' | 'PATCH'

/** Creates a client of a JSON API, which may send requests concurrently. */
export function createApi(baseUrl: string, token: string): Call {
  const access = { tls: {}, headers: ['authorization', `Bearer ${token}`] }
  const endpoint = { url: new URL(baseUrl), access: () => access, credentialRejected: () => undefined }
  const client = createRetryingClient(createKubeClient(endpoint))
  return (method, path, body, contentType = 'application/json') =>
    client.call({ method, path, body, contentType }).catch(error => {
      // An earlier attempt, to which an overloaded server has not responded, has created the object.
      if (method !== 'POST' || !isStatus(error, 409)) throw error
      return undefined
    })
}

const stillMs = 60_000

/** Counts until `expected`, or no growth for a minute. @returns the last number */
export async function until(
  expected: number,
  count: () => Promise<number> | number,
  everyMs = 250,
): Promise<number> {
  let [found, since] = [await count(), Date.now()]
  while (found < expected && Date.now() - since < stillMs) {
    await sleep(everyMs)
    const now = await count()
    if (now > found) since = Date.now()
    found = now
  }
  return found
}
