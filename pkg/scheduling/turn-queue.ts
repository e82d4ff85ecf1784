/**
 * Short works that one event makes due, maybe thousands of them: run in order and in slices, with
 * other requests in between.
 */
export type TurnQueue = { readonly add: (work: () => void) => void }

// Longer than this at a stretch, and other requests would feel it.
const sliceMs = 4

export function createTurnQueue(): TurnQueue {
  let due: (() => void)[] = []
  let next = 0
  let isRunning = false

  function run(): void {
    const since = performance.now()
    do {
      const work = due[next++]
      if (work === undefined) {
        due = []
        next = 0
        isRunning = false
        return
      }
      try {
        work()
      } catch (error) {
        // One that throws must not keep the others from running.
        queueMicrotask(() => {
          throw error
        })
      }
    } while (performance.now() - since < sliceMs)
    setImmediate(run)
  }

  return {
    add(work) {
      due.push(work)
      if (!isRunning) setImmediate(run)
      isRunning = true
    },
  }
}
