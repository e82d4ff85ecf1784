/** A response body beyond the size limit. */
export class BodyTooLargeError extends Error {}

/**
 * Reads a response body to its end.
 *
 * @throws BodyTooLargeError when it is larger than `maxBytes`; Error when it breaks off
 */
export async function readBody(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > maxBytes) throw new BodyTooLargeError(`the response is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
