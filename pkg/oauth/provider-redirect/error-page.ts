import type { Request, RequestHandler, Response } from 'express'
import { Status } from '../../apierrors/status.ts'
import { html } from '../../httpserver/response/html-template.ts'
import { toLoginPath } from '../browser/return-to.ts'
import { takesHtml } from '../pages/error-page.ts'
import { errorNote, sendPage } from '../pages/page.ts'

/** The path where the login would continue; the initial value applies until the state is known. */
export type LoginFlowState = { returnTo: string }

/**
 * Renders a failed login with a link back to the login page. An unresponsive provider is also
 * shown, since it is not an internal error and is already logged.
 */
export function withLoginErrorPage(
  product: string,
  handle: (req: Request, res: Response, loginFlow: LoginFlowState) => Promise<void>,
): RequestHandler {
  return async (req, res) => {
    const loginFlow: LoginFlowState = { returnTo: '' }
    try {
      await handle(req, res, loginFlow)
    } catch (error) {
      const isForCaller =
        error instanceof Status && (error.code < 500 || error.reason === 'temporarily_unavailable')
      if (!isForCaller || error.code === 401 || !takesHtml(req)) throw error
      const { message, headers, code } = error
      res.set({ ...headers })
      const body = html`${errorNote(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`)}
<p><a class="button second" href="${toLoginPath(loginFlow.returnTo)}">Back to the login</a></p>`
      sendPage(res, { product, title: 'You are not logged in', body, code })
    }
  }
}
