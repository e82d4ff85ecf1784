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
   * It waits for 50 ms at a time at most, and for half of its time, whatever comes. For a second after that it leaves a
   * fifth of its time, such waits included, to who comes next: what runs all the time is in the way of all that wakes up.
   */
  readonly goAhead: () => () => void
}

const mostHeldMs = 50
const askedWithinMs = 1000
const slice = { ms: 1.5, askedMs: 0.75 }
// Of the time that it took. Timers know whole milliseconds.
const rest = { share: 0.25, leastMs: 1 }

export function createTurns(): Turns {
  const waiting: (() => void)[] = []
  let ahead = 0
  let heldSince: number | undefined
  let freeUntil = 0
  let askedAt = Number.NEGATIVE_INFINITY
  let isRunning = false
  let ranAt = 0
  // How long it is still to rest, and since when it does.
  let owedMs = 0
  let idleSince: number | undefined
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

  const isAsked = (now: number): boolean => now - askedAt < askedWithinMs

  function release(): void {
    timer = undefined
    const now = performance.now()
    if (isHeld(now)) {
      idleSince ??= now
      timer = setTimeout(release, mostHeldMs)
      return
    }
    if (idleSince !== undefined) owedMs = Math.max(owedMs - (now - idleSince), -mostHeldMs)
    idleSince = undefined
    ranAt = now
    waiting.shift()?.()
    setImmediate(goOn)
  }

  /** After a slice, and after what came in meanwhile. */
  function goOn(): void {
    const now = performance.now()
    owedMs = isAsked(now) ? owedMs + (now - ranAt) * rest.share : 0
    if (waiting.length === 0) isRunning = false
    else if (owedMs < rest.leastMs) release()
    else {
      idleSince = now
      timer = setTimeout(release, owedMs)
    }
  }

  return {
    next: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      if (!isRunning) setImmediate(release)
      isRunning = true
      return promise
    },
    sliceMs: () => (isAsked(performance.now()) ? slice.askedMs : slice.ms),
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
