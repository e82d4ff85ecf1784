/** What the process of the tests tells who has started it. */
export type Message =
  | {
      readonly test: string
      readonly state: 'began' | 'passed' | 'failed' | 'skipped'
      readonly why?: string
    }
  | { readonly end: true }

const states = new Set<unknown>(['began', 'passed', 'failed', 'skipped'])

/** Tests may send their parent messages of their own. */
export function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null) return false
  if ('end' in value) return value.end === true
  return 'test' in value && typeof value.test === 'string' && 'state' in value && states.has(value.state)
}
