/** When which part of a file came that only grows. */
export type Arrivals = {
  /**
   * The file reaches up to here.
   *
   * @param isNew whether that has just come; otherwise it is not known when
   * @param doneTo what is before this need not be remembered for long
   */
  readonly note: (to: number, isNew: boolean, doneTo: number) => void
  readonly reached: () => number
  readonly reachedBefore: (ms: number) => number
  /** A part behind this place that came at once: where it ends, and when it came. */
  readonly after: (from: number) => Mark
}

/** How far the file reached at a moment; at one long ago when that is not known. */
type Mark = { readonly to: number; readonly at: number }

const togetherMs = 20

/** @param rememberMs how far back `reachedBefore` is asked for */
export function createArrivals(rememberMs: number, clock = (): number => performance.now()): Arrivals {
  let begin = 0
  // Of the time that is remembered, and of all that is not done.
  let marks: readonly Mark[] = []

  return {
    note: (to, isNew, doneTo) => {
      const now = clock()
      const last = marks.at(-1)
      if (last === undefined) begin = doneTo
      if (isNew && last !== undefined && now - last.at < togetherMs) {
        marks = marks.with(-1, { to, at: last.at })
        return
      }
      const done = marks.findLastIndex(mark => mark.to <= doneTo && mark.at < now - rememberMs)
      marks = [...marks.slice(Math.max(done, 0)), { to, at: isNew ? now : Number.NEGATIVE_INFINITY }]
    },
    reached: () => marks.at(-1)?.to ?? begin,
    reachedBefore: ms => {
      const moment = clock() - ms
      return marks.findLast(({ at }) => at < moment)?.to ?? begin
    },
    after: from => marks.find(({ to }) => to > from) ?? { to: from, at: Number.NEGATIVE_INFINITY },
  }
}
