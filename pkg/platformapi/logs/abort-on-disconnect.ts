import type { AuthenticatedExchange } from '../../apirequest/request-context.ts'

/** Runs a handler with a signal that aborts when the client disconnects. */
export async function withAbortOnDisconnect(
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
