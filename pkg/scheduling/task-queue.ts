/**
 * Runs short tasks in order and in time slices, so that other requests are served in between. One
 * event may cause thousands of tasks.
 */
export type TaskQueue = { readonly add: (work: () => void) => void }

// A longer time slice would noticeably delay other requests.
const sliceMs = 4

/** @param failed called with the error of a task, which affects no other task */
export function createTaskQueue(failed: (error: unknown) => void): TaskQueue {
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
        failed(error)
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
