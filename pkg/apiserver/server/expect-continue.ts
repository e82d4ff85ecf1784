import type { IncomingMessage, ServerResponse } from 'node:http'

type Listener = (req: IncomingMessage, res: ServerResponse) => void

const continues = /(?:^|\W)100-continue(?:$|\W)/i

/** Whether a client sends the body only once it got 100 (RFC 9110 section 10.1.1). */
export function awaitsContinue({
  headers,
  httpVersion,
}: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  return httpVersion === '1.1' && continues.test(headers.expect ?? '')
}

/**
 * A listener of `checkContinue`: 100 is sent when the body begins to be read, so that a request
 * that is refused before costs its client no body.
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
