import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Lets go of memory that is not used any more. The engine lets tens of megabytes of buffers pile up in each thread before it
 * looks, which is more than the store may take, and then looks at everything. So its threads are told to.
 */
export type Garbage = {
  /**
   * Called now and then. Once this many bytes of buffers have come on top of what was left the last time, collects what is young, which
   * takes a millisecond and is nearly all of it.
   */
  readonly collectYoungBeyond: (bytes: number) => void
  /** The same, and everything where that was not enough. */
  readonly collectBeyond: (bytes: number) => void
}

// In per cent of the way from what was left the last time to what is allowed. Unless told, V8 begins once less is left of that
// than the young may have, which in a small heap is always: it collected everything again and again.
const marking = { '--incremental-marking-soft-trigger': 80, '--incremental-marking-hard-trigger': 95 }

/** Changes when V8 marks in all threads. */
export function createGarbage(): Garbage {
  setFlagsFromString('--expose-gc')
  for (const [flag, percent] of Object.entries(marking)) setFlagsFromString(`${flag}=${percent}`)
  const gc: (options?: { readonly type: 'minor' | 'major' }) => void = runInNewContext('gc')
  let left = countBytes()
  let isCollected = false

  function collectBeyond(bytes: number, isThorough: boolean): void {
    const now = countBytes()
    if (isCollected) {
      isCollected = false
      if (isThorough && now > left + bytes / 2) gc()
      left = countBytes()
    } else if (now > left + bytes) {
      gc({ type: 'minor' })
      isCollected = true
    }
  }

  return {
    collectYoungBeyond: bytes => collectBeyond(bytes, false),
    collectBeyond: bytes => collectBeyond(bytes, true),
  }
}

/** What a collection has freed is only taken off when something is allocated after it. */
function countBytes(): number {
  Buffer.allocUnsafeSlow(1)
  return getHeapStatistics().external_memory
}
