import { request } from 'node:https'

export type TlsResponse = { readonly code: number; readonly body: string; readonly certificate: string }

export type GetOptions = {
  readonly token?: string
  readonly method?: string
  readonly form?: Readonly<Record<string, string>>
  /** The request body, if it is not a form. */
  readonly body?: string
}

/** Sends one request on a new connection. The serving certificate is returned, but not verified. */
export function get(
  url: string,
  { token, method = 'GET', form, body }: GetOptions = {},
): Promise<TlsResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<TlsResponse>()
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
  }
  const options = { method, headers, agent: false as const, rejectUnauthorized: false, timeout: 10_000 }
  const req = request(url, options, async res => {
    try {
      const certificate = 'getPeerCertificate' in res.socket ? fingerprint(res.socket) : ''
      const text = Buffer.concat(await res.toArray()).toString('utf8')
      resolve({ code: res.statusCode ?? 0, body: text, certificate })
    } catch (error) {
      reject(error)
    }
  })
  req.on('timeout', () => req.destroy(new Error(`no response from ${url}`)))
  req.on('error', reject)
  req.end(form === undefined ? body : String(new URLSearchParams(form)))
  return promise
}

function fingerprint(socket: object): string {
  if (!('getPeerCertificate' in socket) || typeof socket.getPeerCertificate !== 'function') return ''
  const { fingerprint256 } = socket.getPeerCertificate()
  return String(fingerprint256)
}
