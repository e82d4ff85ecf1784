import { badRequest, type Cause, Status, toStatus } from '../../../../apierrors/status.ts'

/** One write to kube-apiserver. */
export type Step = { readonly where: string; readonly run: () => Promise<unknown> }

/** The writes that one member takes. */
export type MemberChange = { readonly user: string; readonly steps: readonly Step[] }

/** The most writes of one request. */
export const mostWrites = 1024

export type Progress = {
  /** Called for each member that is written entirely. */
  readonly finished: (change: MemberChange, index: number) => void
  /** Whether the request has ended: later writes could then overtake a retry of the client. */
  readonly isOver: () => boolean
}

/**
 * Writes members one by one.
 *
 * @throws Status 400 before anything is written, if there are too many writes; the error of a
 *   failure after the first write lists in details.causes what was written and what was not
 */
export async function applyChanges(
  changes: readonly MemberChange[],
  { finished, isOver }: Progress,
): Promise<void> {
  const total = changes.reduce((sum, { steps }) => sum + steps.length, 0)
  if (total > mostWrites)
    throw badRequest(`a request may write at most ${mostWrites} bindings, and this one takes ${total}`)
  let written = 0
  for (const [index, change] of changes.entries()) {
    for (const [place, { run }] of change.steps.entries()) {
      try {
        if (isOver()) throw over()
        await run()
      } catch (error) {
        if (written === 0) throw error
        throw partly(toStatus(error), { changes, index, place, written, total })
      }
      written++
    }
    finished(change, index)
  }
}

type Failed = {
  readonly changes: readonly MemberChange[]
  /** The member that failed. */
  readonly index: number
  /** The step that failed. */
  readonly place: number
  readonly written: number
  readonly total: number
}

/** The failure of a step, and what became of each member. */
function partly(failure: Status, { changes, index, place, written, total }: Failed): Status {
  const causes = changes.map(({ user, steps }, i): Cause => {
    const count = i < index ? steps.length : i === index ? place : 0
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

const mostNamed = 16

function summary(what: string, steps: readonly Step[]): string {
  if (steps.length === 0) return `${what}: nothing`
  const named = steps.slice(0, mostNamed).map(({ where }) => where)
  const rest = steps.length - named.length
  return `${what}: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/**
 * Not a failure of kube-apiserver: the response was already sent, or the client has disconnected.
 */
function over(): Status {
  return new Status(408, 'Timeout', 'the request is over')
}

const mostFailures = 3

/**
 * Writes as many members of a list as possible. After three failures of kube-apiserver in a row, or
 * when the request has ended, it skips the rest.
 *
 * @returns those that were not written
 */
export async function writeEach<T>(
  items: readonly T[],
  { write, isOver }: { readonly write: (item: T) => Promise<unknown>; readonly isOver: () => boolean },
): Promise<readonly T[]> {
  const failed: T[] = []
  let failures = 0
  for (const [index, item] of items.entries()) {
    if (failures === mostFailures || isOver()) return [...failed, ...items.slice(index)]
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
