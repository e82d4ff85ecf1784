/** The error for a response body that exceeds the size limit. */
export class BodyTooLargeError extends Error {}

/** Reads a whole response body. @throws BodyTooLargeError above `maxBytes`; Error if aborted */
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
