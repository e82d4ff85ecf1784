import { readFileSync } from 'node:fs'
import { request } from 'node:https'

/** One form to kapis-apiserver. */
export function postForm(
  url: string,
  caFile: string,
  fields: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly body: string }> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number; body: string }>()
  const req = request(url, { method: 'POST', headers, ca: readFileSync(caFile) }, async res => {
    try {
      const body = Buffer.concat(await res.toArray()).toString('utf8')
      resolve({ code: res.statusCode ?? 0, body })
    } catch (error) {
      reject(error)
    }
  })
  req.on('error', reject)
  req.end(String(new URLSearchParams(fields)))
  return promise
}
