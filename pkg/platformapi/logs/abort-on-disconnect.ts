import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'

/**
 * Serves with a signal that the client closed the connection: what nobody waits for any more is not looked for, and what was given up for
 * that is nobody's failure.
 */
export async function whileWaited(
  { res }: AuthenticatedExchange,
  serve: (left: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController()
  res.once('close', () => controller.abort())
  try {
    await serve(controller.signal)
  } catch (error) {
    if (!controller.signal.aborted) throw error
  }
}
