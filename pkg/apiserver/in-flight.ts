import type { AuthenticatedExchange } from '../request/exchange.ts'
import { isLongRunning } from '../request/long-running.ts'
import { tooManyRequests } from '../status/status.ts'

/** Requests at once, at most; 0 is no limit. */
export type InFlightLimits = { readonly reading: number; readonly mutating: number }

export type InFlight = {
  /**
   * Takes a place for a request until the returned function is called.
   *
   * @throws Status 429 with Retry-After when there is none
   */
  readonly enter: (exchange: AuthenticatedExchange) => () => void
}

const readingVerbs = new Set(['get', 'list', 'watch', 'head', 'options'])
const superuserGroup = 'system:masters'
const nothing = () => undefined

/**
 * kube-apiserver's max-in-flight: reads and writes have places of their own, so that a flood of one does not stop the other.
 * What lasts for hours takes none, and who has to repair a cluster is never refused.
 *
 * @param limits as they are now
 * @param observe told of each refusal
 */
export function createInFlight(
  limits: () => InFlightLimits,
  observe: (kind: 'reading' | 'mutating') => void,
): InFlight {
  const taken = { reading: 0, mutating: 0 }
  return {
    enter({ info, query, identity }) {
      if (isLongRunning(info, query)) return nothing
      const kind = readingVerbs.has(info.verb) ? 'reading' : 'mutating'
      const most = limits()[kind]
      if (most > 0 && taken[kind] >= most && !identity.groups.includes(superuserGroup)) {
        observe(kind)
        throw tooManyRequests('Too many requests, please try again later.', 1)
      }
      taken[kind]++
      let isLeft = false
      return () => {
        if (!isLeft) taken[kind]--
        isLeft = true
      }
    },
  }
}
