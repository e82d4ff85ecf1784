import { fieldsOf, textOf } from '../kubeclient/object/object.ts'
import { toFields } from '../logs/events/event-record.ts'
import { allOf, type Expression, isOneOf } from '../logs/filter/expression.ts'
import type { LogRecord } from '../logs/record.ts'

/** An exec or attach session: who opened it, where, and by which policy it is recorded. */
export type Session = {
  /** Name of the recording. */
  readonly id: string
  readonly namespace: string
  readonly pod: string
  /** '' for the default container of the pod. */
  readonly container: string
  readonly subresource: string
  readonly command: readonly string[]
  readonly tty: boolean
  readonly user: string
  readonly groups: readonly string[]
  /** The authenticated caller who impersonates `user`; '' without impersonation. */
  readonly impersonator: string
  readonly sourceIP: string
  /** Name of the policy that requires the recording. */
  readonly policy: string
  readonly auditID: string
  readonly startTimestamp: string
}

export type SessionEnd = {
  readonly endTimestamp: string
  /** Output of the container, in bytes. */
  readonly outputBytes: number
  /** Why Kapis ended the session; '' if the client or the container ended it. */
  readonly reason: string
}

/** Kind of a record. A session has these in this order, with any number of outputs. */
export type SessionPart = 'start' | 'output' | 'end'

/** Creates a record. @param log JSON of Session or SessionEnd, or asciicast lines */
export function toRecord(session: Session, part: SessionPart, log: string, timeNs: bigint): LogRecord {
  const { id, namespace, pod, container, user } = session
  return {
    ...{ timeNs, log, namespace, pod, container, host: '', dockerId: '' },
    fields: toFields({ session: id, part, user }),
  }
}

/** Returns a filter for records of these kinds, of all sessions or of those with `ids`. */
export function ofParts(parts: readonly SessionPart[], ids?: readonly string[]): Expression {
  const ofIds = ids === undefined ? [] : [isOneOf({ field: 'session' }, ids)]
  return allOf([isOneOf({ field: 'part' }, parts), ...ofIds]) ?? { op: 'and', operands: [] }
}

/** Parses the JSON object in a start or end record. */
export function readFields({ log }: LogRecord): Readonly<Record<string, unknown>> {
  return fieldsOf(JSON.parse(log))
}

/** Returns the ID of the session to which a record belongs. */
export function idOf({ fields }: LogRecord): string {
  return textOf(fields?.session)
}
