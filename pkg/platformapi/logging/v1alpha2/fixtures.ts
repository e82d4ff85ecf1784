import { Status, tooManyRequests } from '../../../apierrors/status.ts'

/** An authorizer that denies everything. */
export function forbidden403(): never {
  throw new Status(403, 'Forbidden', 'no')
}

/** A store that has too much to do. */
export async function tooMany(): Promise<never> {
  throw tooManyRequests('later', 7)
}

/** A place for each batch. */
export function freePlace(): { readonly leave: () => void } {
  return { leave: () => undefined }
}
