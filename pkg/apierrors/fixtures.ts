import { Status } from './status.ts'

/** The fields of an error that a caller sees. */
export type ErrorFields = { readonly code: number; readonly reason: string; readonly message: string }

/** Returns the Status that `f` throws; the test fails if it throws anything else or nothing. */
export function thrownStatus(f: () => unknown): Status {
  try {
    f()
  } catch (error) {
    if (error instanceof Status) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** Returns code, reason and message of the Status that `f` throws. */
export function thrownFields(f: () => unknown): ErrorFields {
  return toErrorFields(thrownStatus(f))
}

export async function rejectedStatus(promise: Promise<unknown>): Promise<Status> {
  try {
    await promise
  } catch (error) {
    if (error instanceof Status) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

export function toErrorFields({ code, reason, message }: Status): ErrorFields {
  return { code, reason, message }
}
