import { Status } from '../../../apierrors/status.ts'

/** Messages of a child process: the result of its start, responses, notifications. */
export type FromChild =
  | { readonly kind: 'ready' }
  | { readonly kind: 'broken'; readonly error: PlainError }
  | { readonly kind: 'notice'; readonly notice: unknown }
  | { readonly kind: 'response'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: PlainError }

/** An error in a form that can be sent to another process. */
export type PlainError = {
  readonly message: string
  readonly status?: Pick<Status, 'code' | 'reason'>
}

export function toPlainError(error: unknown): PlainError {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Status) return { message, status: { code: error.code, reason: error.reason } }
  return { message }
}

export function fromPlainError({ message, status }: PlainError): Error {
  return status === undefined ? new Error(message) : new Status(status.code, status.reason, message)
}
