/** How many tests ended how. */
export type Totals = { readonly passed: number; readonly failed: number; readonly skipped: number }

export const none: Totals = Object.freeze({ passed: 0, failed: 0, skipped: 0 })
/** For what should have run tests and did not get that far. */
export const oneFailed: Totals = Object.freeze({ passed: 0, failed: 1, skipped: 0 })

export function sum(totals: readonly Totals[]): Totals {
  return totals.reduce(
    (all, { passed, failed, skipped }) => ({
      passed: all.passed + passed,
      failed: all.failed + failed,
      skipped: all.skipped + skipped,
    }),
    none,
  )
}

/** The last line of `make test`. */
export function toLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** Nothing run is nothing shown to work. */
export function isSuccess({ passed, failed }: Totals): boolean {
  return failed === 0 && passed > 0
}

export function isTotals(value: unknown): value is Totals {
  if (typeof value !== 'object' || value === null) return false
  return ['passed', 'failed', 'skipped'].every(
    key => typeof Object.entries(value).find(([k]) => k === key)?.[1] === 'number',
  )
}
