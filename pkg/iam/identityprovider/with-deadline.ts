/** Returns the result of `work`, or throws the reason of the signal as soon as it aborts. */
export async function withDeadline<T>(
  timeoutMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(timeoutMs)])
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work(signal), promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
