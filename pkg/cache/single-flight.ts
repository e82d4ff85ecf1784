/**
 * Returns a function that runs `work` once for all concurrent calls with the same key, as Go's
 * singleflight does. Nothing is kept once it has ended, whether it succeeds or fails.
 */
export function createSingleFlight<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>()
  return (key, work) => {
    const known = running.get(key)
    if (known !== undefined) return known
    const started = work().finally(() => running.delete(key))
    running.set(key, started)
    return started
  }
}
