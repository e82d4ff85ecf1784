/**
 * Runs a full garbage collection and returns memory to the system. V8 only collects while it
 * allocates, so idle servers would keep garbage. Blocks the event loop for tens of milliseconds:
 * call it only when no requests are in flight.
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
