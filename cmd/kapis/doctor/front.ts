import { get } from 'node:https'
import { readAuthority } from '../../../pkg/certs/authority-secret.ts'
import { Status } from '../../../pkg/status/status.ts'
import type { Patient } from './check.ts'

export type FrontAnswer = { readonly code: number; readonly body: string }

/** Asks the front: directly, or through kube-apiserver, which reaches what the doctor's machine may not. */
export async function askFront(patient: Patient, path: string): Promise<FrontAnswer> {
  return patient.url === '' ? throughService(patient, path) : directly(patient, path)
}

async function throughService({ client, namespace, service }: Patient, path: string): Promise<FrontAnswer> {
  const name = `https:${service.name}:${service.port}`
  try {
    const res = await client.stream({ path: `/api/v1/namespaces/${namespace}/services/${name}/proxy${path}` })
    return { code: res.statusCode ?? 0, body: Buffer.concat(await res.toArray()).toString('utf8') }
  } catch (cause) {
    if (cause instanceof Status) return { code: cause.code, body: cause.message }
    throw cause
  }
}

async function directly(patient: Patient, path: string): Promise<FrontAnswer> {
  const authority = await readAuthority(patient)
  const { promise, resolve, reject } = Promise.withResolvers<FrontAnswer>()
  const options = {
    ...(authority === undefined ? {} : { ca: [...authority.trusted] }),
    // As kube-apiserver does: the name of the Service, whatever the address.
    servername: `${patient.service.name}.${patient.namespace}.svc`,
    agent: false as const,
    timeout: 10_000,
  }
  const req = get(`${patient.url}${path}`, options, async res => {
    try {
      const body = Buffer.concat(await res.toArray()).toString('utf8')
      resolve({ code: res.statusCode ?? 0, body })
    } catch (cause) {
      reject(cause)
    }
  })
  req.on('timeout', () => req.destroy(new Error('no answer within 10 s')))
  req.on('error', ({ message }) => resolve({ code: 0, body: message }))
  return promise
}
