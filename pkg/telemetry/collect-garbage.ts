/**
 * Runs a garbage collection and returns memory to the system. V8 only collects on allocation, so
 * the garbage of the first lists of a large cluster would otherwise stay while there is little
 * load. It blocks the event loop for tens of milliseconds: call it when no requests are in flight.
 */
export async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  try {
    await session.post('HeapProfiler.collectGarbage')
  } finally {
    session.disconnect()
  }
}
