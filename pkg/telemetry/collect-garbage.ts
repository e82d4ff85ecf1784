/**
 * Runs a full garbage collection and returns memory to the system. V8 only collects while it
 * allocates, so an idle server would keep the garbage of its first large lists. Blocks the event
 * loop for tens of milliseconds: call it only when no requests are in flight.
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
