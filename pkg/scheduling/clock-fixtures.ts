/**
 * Runs work with the time of day moved by `wallMs` and the monotonic clock by `monotonicMs`, as if
 * the clock had been set and time had passed. Timers are not moved.
 */
export async function withClocks(
  { wallMs, monotonicMs }: { readonly wallMs: number; readonly monotonicMs: number },
  work: () => Promise<void>,
): Promise<void> {
  const wall = Date.now
  const monotonic = performance.now
  Date.now = () => wall() + wallMs
  performance.now = () => monotonic.call(performance) + monotonicMs
  try {
    await work()
  } finally {
    Date.now = wall
    performance.now = monotonic
  }
}
