import { membersOf, textOf } from '../kubeclient/object/object.ts'
import { toFields } from '../logs/events/event-record.ts'
import { allOf, type Expression, isOneOf } from '../logs/filter/expression.ts'
import type { LogRecord } from '../logs/record.ts'

/** Who opened a session of exec or attach, where, and why it is recorded. */
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
  /** The authenticated caller who acts as the user; '' if it is the user. */
  readonly impersonator: string
  readonly sourceIP: string
  /** The policy by which it is recorded. */
  readonly policy: string
  readonly auditID: string
  readonly startTimestamp: string
}

export type SessionEnd = {
  readonly endTimestamp: string
  /** Bytes of output. */
  readonly outputBytes: number
  /** Why Kapis has ended the session; '' if the client or the container has. */
  readonly reason: string
}

/** The records of a session, in this order. */
export type Part = 'start' | 'output' | 'end'

/** @param log the session or its end as JSON, or lines of an asciicast */
export function toRecord(session: Session, part: Part, log: string, timeNs: bigint): LogRecord {
  const { id, namespace, pod, container, user } = session
  return {
    ...{ timeNs, log, namespace, pod, container, host: '', dockerId: '' },
    fields: toFields({ session: id, part, user }),
  }
}

/** Selects the records of these sessions, or of all. */
export function ofParts(parts: readonly Part[], ids?: readonly string[]): Expression {
  const ofIds = ids === undefined ? [] : [isOneOf({ field: 'session' }, ids)]
  return allOf([isOneOf({ field: 'part' }, parts), ...ofIds]) ?? { op: 'and', operands: [] }
}

/** The JSON object of the start or the end of a session. */
export function readMembers({ log }: LogRecord): Readonly<Record<string, unknown>> {
  return membersOf(JSON.parse(log))
}

/** The name of the session that a record belongs to. */
export function idOf({ fields }: LogRecord): string {
  return textOf(fields?.session)
}
