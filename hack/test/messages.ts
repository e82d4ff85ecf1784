import type { Timing } from './timings.ts'

/** A message of a test process to its parent. */
export type Message =
  | {
      readonly test: string
      readonly state: 'began' | 'passed' | 'failed' | 'skipped'
      readonly why?: string
      readonly seconds?: number
    }
  | { readonly timing: Timing }
  /** The process is ready for a job; the response is a JobMessage. */
  | { readonly next: true }
  | { readonly end: true }

/** Files that run together in this order. */
export type Job = readonly string[]
/** The next job; without files, the process exits. */
export type JobMessage = { readonly job: Job }

const states = new Set<unknown>(['began', 'passed', 'failed', 'skipped'])

/** Reports whether a message is from this runner: tests may send other messages to the parent. */
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
