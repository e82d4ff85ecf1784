/**
 * Lets V8 look for what nobody holds any more, and give it back. What the first lists of a large cluster leave behind would otherwise stay
 * for as long as there is little to do: V8 collects when something is allocated.
 *
 * It holds everything up for some tens of milliseconds: for a moment at which nobody waits.
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
