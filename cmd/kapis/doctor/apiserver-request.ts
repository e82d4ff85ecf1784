import { get } from 'node:https'
import { Status } from '../../../pkg/apierrors/status.ts'
import { readCa } from '../../../pkg/certs/ca-secret.ts'
import type { Installation } from './check.ts'

/** A response of kapis-apiserver; with code 0, the body says why it is unreachable. */
export type ApiserverResponse = { readonly code: number; readonly body: string }

// Shorter than the timeout of kube-apiserver, which is half a minute if a firewall drops packets.
const respondsWithinMs = 5_000
const silence = `timed out after ${respondsWithinMs / 1000} s`

/** Sends a request to kapis-apiserver, if necessary through the proxy of kube-apiserver. */
export async function requestApiserver(installation: Installation, path: string): Promise<ApiserverResponse> {
  return installation.url === '' ? throughService(installation, path) : directly(installation, path)
}

async function throughService(
  { client, namespace, service }: Installation,
  path: string,
): Promise<ApiserverResponse> {
  const name = `https:${service.name}:${service.port}`
  const proxied = `/api/v1/namespaces/${namespace}/services/${name}/proxy${path}`
  const signal = AbortSignal.timeout(respondsWithinMs)
  try {
    let code = 0
    const onResponse = (status: number) => {
      code = status
    }
    const body = await client.stream({ path: proxied, signal, onResponse })
    return { code, body: Buffer.concat(await body.toArray()).toString('utf8') }
  } catch (cause) {
    if (signal.aborted) return { code: 0, body: silence }
    if (!(cause instanceof Status)) throw cause
    // The message of kube-apiserver; errors of kapis-apiserver have other messages.
    const isReached = !cause.message.startsWith('error trying to reach service')
    return { code: isReached ? cause.code : 0, body: cause.message }
  }
}

async function directly(installation: Installation, path: string): Promise<ApiserverResponse> {
  const ca = await readCa(installation)
  const { promise, resolve, reject } = Promise.withResolvers<ApiserverResponse>()
  const options = {
    ...(ca === undefined ? {} : { ca: [...ca.trusted] }),
    // Like kube-apiserver, verifies the name of the Service, regardless of the address.
    servername: `${installation.service.name}.${installation.namespace}.svc`,
    agent: false as const,
    timeout: respondsWithinMs,
  }
  const req = get(`${installation.url}${path}`, options, async res => {
    try {
      const body = Buffer.concat(await res.toArray()).toString('utf8')
      resolve({ code: res.statusCode ?? 0, body })
    } catch (cause) {
      reject(cause)
    }
  })
  req.on('timeout', () => req.destroy(new Error(silence)))
  req.on('error', ({ message }) => resolve({ code: 0, body: message }))
  return promise
}
