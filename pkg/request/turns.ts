/**
 * Long work of several requests: of all of it, one slice runs between two looks at what has come in. Each by itself would
 * take a slice of every turn, and a short request would wait for all of them.
 */
export type Turns = { readonly next: () => Promise<void> }

export function createTurns(): Turns {
  const waiting: (() => void)[] = []

  function release(): void {
    waiting.shift()?.()
    if (waiting.length > 0) setImmediate(release)
  }

  return {
    next: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      if (waiting.push(resolve) === 1) setImmediate(release)
      return promise
    },
  }
}
