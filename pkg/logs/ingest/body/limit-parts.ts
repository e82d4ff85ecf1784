import { Status } from '../../../apierrors/status.ts'

/**
 * Passes the parts of a batch on. Parts without lines take time too, so all of them are limited.
 *
 * @param what the parts, in plural
 * @throws Status 413 for one more than the limit, which is not read
 */
export function* upTo<T>(limit: number, what: string, parts: Iterable<T>): Generator<T> {
  let count = 0
  for (const part of parts) {
    count += 1
    if (count > limit) {
      const message = `the batch has too many ${what}, the limit is ${limit}`
      throw new Status(413, 'RequestEntityTooLarge', message)
    }
    yield part
  }
}
