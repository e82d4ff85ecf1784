/**
 * Long work of several requests: of all of it, one slice runs between two looks at what has come in. Each by itself would
 * take a slice of every turn, and a short request would wait for all of them.
 */
export type Turns = {
  readonly next: () => Promise<void>
  /** How long a slice may take: a question is likely where one was a moment ago, and meets one. */
  readonly sliceMs: () => number
  /**
   * Something short begins, for which the processor is wanted: long work waits until the function that is returned is called.
   * It waits for 50 ms at a time at most, and for half of its time, whatever comes.
   */
  readonly goAhead: () => () => void
}

const mostHeldMs = 50
const slice = { ms: 1.5, askedMs: 0.75, withinMs: 1000 }

export function createTurns(): Turns {
  const waiting: (() => void)[] = []
  let ahead = 0
  let heldSince: number | undefined
  let freeUntil = 0
  let askedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  function isHeld(now: number): boolean {
    if (ahead === 0 || now < freeUntil) return false
    heldSince ??= now
    if (now - heldSince < mostHeldMs) return true
    letGo(now)
    return false
  }

  function letGo(now: number): void {
    if (heldSince === undefined) return
    freeUntil = now + (now - heldSince)
    heldSince = undefined
  }

  function release(): void {
    timer = undefined
    if (isHeld(performance.now())) {
      timer = setTimeout(release, mostHeldMs)
      return
    }
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(release)
  }

  return {
    next: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (waiting.push(resolve) === 1) setImmediate(release)
      return promise
    },
    sliceMs: () => (performance.now() - askedAt < slice.withinMs ? slice.askedMs : slice.ms),
    goAhead: () => {
      ahead += 1
      askedAt = performance.now()
      let isOver = false
      const end = (): void => {
        if (isOver) return
        isOver = true
        clearTimeout(patience)
        ahead -= 1
        if (ahead > 0) return
        letGo(performance.now())
        if (timer === undefined) return
        clearTimeout(timer)
        timer = undefined
        // What it was for is answered first.
        setImmediate(release)
      }
      // What lasts is not helped by it.
      const patience = setTimeout(end, mostHeldMs)
      return end
    },
  }
}
