import { Status } from './status.ts'

/** The parts of an error that a caller sees. */
export type Refusal = { readonly code: number; readonly reason: string; readonly message: string }

/** Returns the Status that `f` throws; any other result fails the test. */
export function statusOf(f: () => unknown): Status {
  try {
    f()
  } catch (error) {
    if (error instanceof Status) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** Code, reason and message of the Status that `f` throws. */
export function refusalOf(f: () => unknown): Refusal {
  return toRefusal(statusOf(f))
}

/** The Status that a promise is rejected with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Status> {
  try {
    await promise
  } catch (error) {
    if (error instanceof Status) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

export function toRefusal({ code, reason, message }: Status): Refusal {
  return { code, reason, message }
}
