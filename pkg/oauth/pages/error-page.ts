import type { Request, RequestHandler, Response } from 'express'
import { Status } from '../../apierrors/status.ts'
import { type Html, html } from '../../httpserver/response/html-template.ts'
import type { TokenAudit } from '../server/audit.ts'
import { type AuditedHandler, withErrorAudit } from '../server/with-audit.ts'
import { errorNote, sendPage } from './page.ts'

type Exchange = { readonly req: Request; readonly res: Response }

export type ErrorPageLink = (exchange: Exchange) => Promise<Html> | Html

/**
 * Renders errors as a page for requests that accept HTML. 401 and server errors are left to the
 * error handler of the app, which logs the latter.
 */
export function withErrorPage(
  product: string,
  handler: (req: Request, res: Response) => Promise<void>,
  wayOn: ErrorPageLink = toOwnSession,
): RequestHandler {
  return async (req, res) => {
    try {
      await handler(req, res)
    } catch (error) {
      if (!takesHtml(req) || !(error instanceof Status) || error.code >= 500 || error.code === 401)
        throw error
      await sendErrorPage({ req, res }, { product, error, wayOn })
    }
  }
}

/** Wraps the handler of a form or page: logs its errors, and renders them as a page. */
export function withAuditedErrorPage(
  { audit, productName }: { readonly audit: TokenAudit; readonly productName: string },
  endpoint: string,
  handle: AuditedHandler,
  wayOn?: ErrorPageLink,
): RequestHandler {
  return withErrorPage(productName, withErrorAudit(audit, endpoint, handle), wayOn)
}

/** Sends the page for an error of the caller. */
export async function sendErrorPage(
  exchange: Exchange,
  { product, error, wayOn = toOwnSession }: { product: string; error: Status; wayOn?: ErrorPageLink },
): Promise<void> {
  const body = html`${errorNote(`${sentence(error.message || 'The request was rejected')} (${error.reason})`)}
${await wayOn(exchange)}`
  exchange.res.set({ ...error.headers })
  sendPage(exchange.res, { product, title: 'Request failed', body, code: error.code })
}

function toOwnSession(): Html {
  return html`<p>Nothing was changed. Go back to the application and try again.</p>
<a class="button second" href="/oauth/session">Go to your login</a>`
}

/** Sends the page for a server error: the request may or may not have had an effect. */
export function sendServerErrorPage(res: Response, product: string, status: Status): Status {
  const text = status.code === 503 ? 'Logging in is temporarily unavailable.' : 'Internal error.'
  const body = html`${errorNote(text)}
<p>Go back to the application and try again in a moment.</p>
<a class="button second" href="/oauth/session">Go to your login</a>`
  res.set({ ...status.headers })
  sendPage(res, { product, title: 'Request failed', body, code: status.code })
  return status
}

/** Reports whether the client is a browser, which lists HTML in Accept. */
export function takesHtml(req: Request): boolean {
  return (req.headers.accept ?? '').includes('text/html')
}

/** Capitalizes a message, unless it begins with a parameter name (`id_token_hint is …`). */
function sentence(text: string): string {
  return /^[a-z]+_/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)
}
