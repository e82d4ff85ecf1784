import { unavailable } from '../../../apierrors/status.ts'
import { createPool } from '../../../http/pool.ts'
import { readBody } from '../../../http/read-body.ts'
import { isRecord } from '../../../kubeclient/object/object.ts'

export type IssuerResponse = { readonly code: number; readonly body: Readonly<Record<string, unknown>> }

const timeoutMs = 15_000
const maxResponseBytes = 256 * 1024
// Logins are rare, so the connection is closed soon.
const connection = {
  ...{ connections: 1, connectMs: timeoutMs, headMs: timeoutMs, bodyMs: timeoutMs, idleMs: 1_000 },
  maxHeadBytes: 16 * 1024,
}

/**
 * Sends a form to kapis-oauth.
 *
 * @param from the client address, by which failed logins are counted
 * @throws Status 503 if kapis-oauth is not responding
 */
export async function postForm(
  socketPath: string,
  path: string,
  { form, from }: { readonly form: Readonly<Record<string, string>>; readonly from: string },
): Promise<IssuerResponse> {
  const pool = createPool(new URL('http://localhost'), {}, { ...connection, socketPath })
  try {
    const response = await pool.request({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': from },
      body: String(new URLSearchParams(form)),
    })
    const text = (await readBody(response.body, maxResponseBytes)).toString('utf8')
    const parsed: unknown = text === '' ? {} : JSON.parse(text)
    return { code: response.statusCode, body: isRecord(parsed) ? parsed : {} }
  } catch (error) {
    throw unavailable('kapis-oauth is not responding', error, 1)
  } finally {
    void pool.destroy()
  }
}
