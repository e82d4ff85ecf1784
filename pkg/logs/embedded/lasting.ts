/** Whether what is asked lasts, so that others are to be let in meanwhile. */
export type Lasting = {
  readonly isSo: (running: readonly Started[]) => boolean
  /** Of each question, when it is answered or given up. */
  readonly ended: (question: Started) => void
}

type Started = { readonly startedAt: number }

// What takes less is over before others would notice it.
const shortMs = 15
// Who asks one long question after the other begins a long one: others wait for its first milliseconds as for all of them.
const likelyMs = 1000

/** @param now the clock in milliseconds that tells when questions started */
export function createLasting(now = () => performance.now()): Lasting {
  let lastedUntil = Number.NEGATIVE_INFINITY
  return {
    isSo(running) {
      const present = now()
      if (present - lastedUntil < likelyMs) return true
      return running.length > 0 && running.every(({ startedAt }) => present - startedAt > shortMs)
    },
    ended({ startedAt }) {
      const present = now()
      if (present - startedAt > shortMs) lastedUntil = present
    },
  }
}
