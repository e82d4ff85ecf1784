import { Status } from '../../../apierrors/status.ts'

/**
 * Yields the parts of a batch up to a limit, which includes parts without lines, because these take
 * time, too.
 *
 * @param what the parts in plural, for the error message
 * @throws Status 413 for more parts
 */
export function* limitParts<T>(limit: number, what: string, parts: Iterable<T>): Generator<T> {
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
