import type { Writable } from 'node:stream'

/** The end of a stream of events, which never comes within an event. */
export type WatchEnd = {
  /** Ends the stream. While it is held, it ends when it is released. */
  readonly end: () => void
  /** Returns whether the stream has to end. */
  readonly isDue: () => boolean
  /** Marks that events are being written in several pieces. */
  readonly hold: () => void
  readonly release: () => void
}

export function createWatchEnd(out: Writable): WatchEnd {
  let isDue = false
  let isHeld = false
  const endIfDue = () => {
    if (isDue && !isHeld && !out.writableEnded) out.end()
  }
  return {
    end() {
      isDue = true
      endIfDue()
    },
    isDue: () => isDue,
    hold() {
      isHeld = true
    },
    release() {
      isHeld = false
      endIfDue()
    },
  }
}
