import type { IncomingMessage } from 'node:http'
import { Status, tooLarge } from '../../apierrors/status.ts'

/** Returns the media type of a body in lower case without parameters; '' without one. */
export function mediaTypeOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  return type.trim().toLowerCase()
}

export function unsupportedMediaType(allowed: readonly string[]): Status {
  const message = `the body must be ${allowed.join(' or ')}`
  return new Status(415, 'UnsupportedMediaType', message, { headers: { accept: allowed.join(', ') } })
}

/** Reads the whole body of a request as text. @throws Status 413 */
export async function readText(req: IncomingMessage, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  // A request that is destroyed cannot be read further, and its connection could not be used again.
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > limitBytes) throw tooLarge(limitBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
