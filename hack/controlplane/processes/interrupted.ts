/** Returns a signal that aborts when this process should end, so that it stops what it has started. */
export function interrupted(): AbortSignal {
  const abort = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => abort.abort(new Error(`interrupted by ${name}`)))
  process.on('uncaughtException', error => {
    console.error(error)
    process.exitCode = 1
    abort.abort(error)
  })
  // Writes fail with EIO after the terminal window is closed.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  return abort.signal
}

/** Settles like `work`, or rejects when the signal aborts. */
export function orAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}
