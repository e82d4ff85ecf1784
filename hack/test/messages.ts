import type { Timing } from './timings.ts'

/** Messages of a test process to its parent. */
export type Message =
  | {
      readonly test: string
      readonly state: 'began' | 'passed' | 'failed' | 'skipped'
      readonly why?: string
      readonly seconds?: number
    }
  | { readonly timing: Timing }
  /** Ready for a job; the response is a JobMessage. */
  | { readonly next: true }
  | { readonly end: true }

/** Files that run together, in this order. */
export type Job = readonly string[]
/** No files: there are no further jobs. */
export type JobMessage = { readonly job: Job }

const states = new Set<unknown>(['began', 'passed', 'failed', 'skipped'])

/** Tests may send their own messages to the parent. */
export function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null) return false
  if ('end' in value) return value.end === true
  if ('next' in value) return value.next === true
  if ('timing' in value) return typeof value.timing === 'object' && value.timing !== null
  return 'test' in value && typeof value.test === 'string' && 'state' in value && states.has(value.state)
}

export function isJobMessage(value: unknown): value is JobMessage {
  return typeof value === 'object' && value !== null && 'job' in value && Array.isArray(value.job)
}
