import type { IncomingMessage, ServerResponse } from 'node:http'

type Listener = (req: IncomingMessage, res: ServerResponse) => void

const continues = /(?:^|\W)100-continue(?:$|\W)/i

/** Returns whether a client sends the body only after a 100 response (RFC 9110 section 10.1.1). */
export function awaitsContinue({
  headers,
  httpVersion,
}: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  return httpVersion === '1.1' && continues.test(headers.expect ?? '')
}

/**
 * Returns a `checkContinue` listener that sends 100 when a handler begins to read the body, so that
 * the client of a rejected request need not send it.
 */
export function continueWhenRead(listener: Listener): Listener {
  return (req, res) => {
    const onListener = (event: string | symbol) => {
      if (event !== 'data' && event !== 'readable') return
      req.off('newListener', onListener)
      if (!res.headersSent) res.writeContinue()
    }
    req.on('newListener', onListener)
    listener(req, res)
  }
}
