import { Status, tooManyRequests } from '../../../apierrors/status.ts'

/** An authorizer that denies everything. */
export function forbidden403(): never {
  throw new Status(403, 'Forbidden', 'no')
}

/** A request to an overloaded store. */
export async function tooMany(): Promise<never> {
  throw tooManyRequests('later', 7)
}

/** Admits every batch without a limit. */
export function freeSlot(): { readonly leave: () => void } {
  return { leave: () => undefined }
}
