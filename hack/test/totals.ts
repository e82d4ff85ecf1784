export type Totals = { readonly passed: number; readonly failed: number; readonly skipped: number }

/** Totals, and one line per failure. */
export type Outcome = Totals & { readonly failures: readonly string[] }

export const none: Outcome = Object.freeze({ passed: 0, failed: 0, skipped: 0, failures: [] })

/** Returns the outcome of a file that crashed after the tests of `before`. */
export function aborted(reason: string, before: Outcome = none): Outcome {
  return { ...before, failed: before.failed + 1, failures: [...before.failures, reason] }
}

export function sum(outcomes: readonly Outcome[]): Outcome {
  return outcomes.reduce(
    (all, { passed, failed, skipped, failures }) => ({
      passed: all.passed + passed,
      failed: all.failed + failed,
      skipped: all.skipped + skipped,
      failures: [...all.failures, ...failures],
    }),
    none,
  )
}

/** Returns the last line of `make test`. */
export function toLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** Reports whether tests have passed and none failed. A run without tests is not a success. */
export function isSuccess({ passed, failed }: Totals): boolean {
  return failed === 0 && passed > 0
}
