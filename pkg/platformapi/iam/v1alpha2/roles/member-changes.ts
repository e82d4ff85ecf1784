import { badRequest, type Cause, Status, toStatus } from '../../../../apierrors/status.ts'

/** A single write to kube-apiserver. */
export type Step = { readonly where: string; readonly run: () => Promise<unknown> }

export type MemberChange = { readonly user: string; readonly steps: readonly Step[] }

/** Maximum number of writes per request. */
export const maxWrites = 1024

export type Progress = {
  /** Called after all writes of a member. */
  readonly finished: (change: MemberChange, index: number) => void
  /** Returns whether the request has ended. Later writes could overtake a retry of the client. */
  readonly isOver: () => boolean
}

/**
 * Writes members one after another.
 *
 * @throws Status 400 before anything is written, if there are too many writes. An error after the
 * first write lists in details.causes what was written and what was not.
 */
export async function applyChanges(
  changes: readonly MemberChange[],
  { finished, isOver }: Progress,
): Promise<void> {
  const total = changes.reduce((sum, { steps }) => sum + steps.length, 0)
  if (total > maxWrites)
    throw badRequest(`a request may write at most ${maxWrites} bindings, and this one needs ${total}`)
  let written = 0
  for (const [index, change] of changes.entries()) {
    for (const [scopeRef, { run }] of change.steps.entries()) {
      try {
        if (isOver()) throw over()
        await run()
      } catch (error) {
        if (written === 0) throw error
        throw partly(toStatus(error), { changes, index, scopeRef, written, total })
      }
      written++
    }
    finished(change, index)
  }
}

type FailedChange = {
  readonly changes: readonly MemberChange[]
  /** Index of the member whose change failed. */
  readonly index: number
  /** Index of the failed step among the steps of this member. */
  readonly scopeRef: number
  readonly written: number
  readonly total: number
}

/** Returns the error of a step with a cause for each member: what was written and what was not. */
function partly(failure: Status, { changes, index, scopeRef, written, total }: FailedChange): Status {
  const causes = changes.map(({ user, steps }, i): Cause => {
    const count = i < index ? steps.length : i === index ? scopeRef : 0
    const isDone = i < index
    return {
      reason: isDone ? 'Done' : count > 0 ? 'PartlyDone' : 'NotDone',
      message: `${user}: ${summary('done', steps.slice(0, count))}; ${summary('not done', steps.slice(count))}`,
      field: `[${i}]`,
    }
  })
  const { code, reason, message, details, headers } = failure
  return new Status(code, reason, `${message}: ${written} of ${total} writes were made before`, {
    details: { ...details, causes: [...(details?.causes ?? []), ...causes] },
    headers,
    cause: failure,
  })
}

const maxNames = 16

function summary(what: string, steps: readonly Step[]): string {
  if (steps.length === 0) return `${what}: nothing`
  const named = steps.slice(0, maxNames).map(({ where }) => where)
  const rest = steps.length - named.length
  return `${what}: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/**
 * The error if the response was already sent, or the client has disconnected. With code 408 it does
 * not count as a failure of kube-apiserver.
 */
function over(): Status {
  return new Status(408, 'Timeout', 'the request has ended')
}

const maxFailures = 3

/**
 * Writes as many items as possible. Stops after three consecutive failures of kube-apiserver, or
 * when the request has ended.
 *
 * @returns the items that were not written
 */
export async function writeEach<T>(
  items: readonly T[],
  { write, isOver }: { readonly write: (item: T) => Promise<unknown>; readonly isOver: () => boolean },
): Promise<readonly T[]> {
  const failed: T[] = []
  let failures = 0
  for (const [index, item] of items.entries()) {
    if (failures === maxFailures || isOver()) return [...failed, ...items.slice(index)]
    try {
      await write(item)
      failures = 0
    } catch (error) {
      failed.push(item)
      failures = toStatus(error).code >= 500 ? failures + 1 : 0
    }
  }
  return failed
}
