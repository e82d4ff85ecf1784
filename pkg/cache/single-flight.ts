/**
 * Returns a function that runs `work` once for all concurrent calls with the same key, like
 * singleflight of Go. Results and errors are not kept after `work` has ended.
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
