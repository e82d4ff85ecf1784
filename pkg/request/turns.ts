/**
 * Long work of several requests: of all of it, one slice runs between two looks at what has come in. Each by itself would
 * take a slice of every turn, and a short request would wait for all of them.
 */
export type Turns = {
  /** Resolves when it is the caller's turn to go on, for about `sliceMs`. */
  readonly next: () => Promise<void>
  readonly sliceMs: number
}

export function createTurns(): Turns {
  const waiting: (() => void)[] = []
  let isRunning = false

  function release(): void {
    waiting.shift()?.()
    setImmediate(goOn)
  }

  /** After a slice, and after what came in meanwhile. */
  function goOn(): void {
    if (waiting.length > 0) release()
    else isRunning = false
  }

  return {
    sliceMs: 1.5,
    next: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      if (!isRunning) setImmediate(release)
      isRunning = true
      return promise
    },
  }
}
