import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Lets go of memory that is not used any more. The engine lets tens of megabytes of buffers pile up in each thread before it
 * looks, which is more than the store may take; so its threads tell it to.
 */
export type Garbage = {
  readonly collect: () => void
  /** Collects once this many bytes of buffers have come on top of what was left the last time. */
  readonly collectBeyond: (bytes: number) => void
}

export function createGarbage(): Garbage {
  setFlagsFromString('--expose-gc')
  const gc: (options?: { readonly type: 'minor' | 'major' }) => void = runInNewContext('gc')
  const external = (): number => getHeapStatistics().external_memory
  let left = external()
  return {
    collect: () => gc(),
    collectBeyond: bytes => {
      if (external() <= left + bytes) return
      // Nearly all of it is young, and then this takes a millisecond.
      gc({ type: 'minor' })
      if (external() > left + bytes / 2) gc()
      left = external()
    },
  }
}
