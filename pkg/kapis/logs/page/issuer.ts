import { isRecord } from '../../../kube/object.ts'
import { http } from '../../../request/node-http.ts'
import { unavailable } from '../../../status/status.ts'

export type IssuerAnswer = { readonly code: number; readonly body: Readonly<Record<string, unknown>> }

const timeoutMs = 15_000
const maxAnswerBytes = 256 * 1024

/**
 * Sends a form to the token listener.
 *
 * @param from the address of the browser, by which the listener counts
 * @throws Status 503 when it does not answer
 */
export function postForm(
  socketPath: string,
  path: string,
  { form, from }: { readonly form: Readonly<Record<string, string>>; readonly from: string },
): Promise<IssuerAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<IssuerAnswer>()
  const fail = (error: unknown) => reject(unavailable('the token listener does not answer', error, 1))
  const body = String(new URLSearchParams(form))
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': Buffer.byteLength(body),
    'x-forwarded-for': from,
  }
  const call = http.request(
    { socketPath, path, method: 'POST', headers, timeout: timeoutMs },
    async answer => {
      try {
        const chunks: Buffer[] = []
        let length = 0
        for await (const chunk of answer) {
          length += chunk.length
          if (length > maxAnswerBytes) throw new Error('the answer is too long')
          chunks.push(chunk)
        }
        const text = Buffer.concat(chunks).toString('utf8')
        const parsed: unknown = text === '' ? {} : JSON.parse(text)
        resolve({ code: answer.statusCode ?? 0, body: isRecord(parsed) ? parsed : {} })
      } catch (error) {
        fail(error)
      }
    },
  )
  call.on('timeout', () => call.destroy(new Error('the token listener timed out')))
  call.on('error', fail)
  call.end(body)
  return promise
}
