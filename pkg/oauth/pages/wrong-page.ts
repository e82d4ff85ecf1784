import type { Request, RequestHandler, Response } from 'express'
import { html } from '../../request/html.ts'
import { Status } from '../../status/status.ts'
import { errorNote, sendPage } from './page.ts'

/**
 * Shows people what others get as JSON: a request that takes HTML gets a page for an error that is meant for the caller.
 * What is not meant for him stays with the error handler of the listener, which logs it.
 */
export function withErrorPage(
  product: string,
  handler: (req: Request, res: Response) => Promise<void>,
): RequestHandler {
  return async (req, res) => {
    try {
      await handler(req, res)
    } catch (error) {
      if (!takesHtml(req) || !(error instanceof Status) || error.code >= 500 || error.code === 401)
        throw error
      res.set({ ...error.headers })
      const body = html`${errorNote(`${sentence(error.message)} (${error.reason})`)}
<p>Nothing was changed. Go back to where you came from and try again.</p>`
      sendPage(res, { product, title: 'That did not work', body, code: error.code })
    }
  }
}

/** A failure that is not the caller's: whether anything came of what he sent is not known. */
export function sendTroublePage(res: Response, product: string, status: Status): Status {
  const text =
    status.code === 503
      ? 'Logins cannot be looked up at the moment.'
      : 'Something has gone wrong on our side.'
  const body = html`${errorNote(text)}
<p>Go back to where you came from and try again in a moment.</p>`
  res.set({ ...status.headers })
  sendPage(res, { product, title: 'That did not work', body, code: status.code })
  return status
}

/** Programs say that they take anything; browsers name HTML. */
export function takesHtml(req: Request): boolean {
  return (req.headers.accept ?? '').includes('text/html')
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
