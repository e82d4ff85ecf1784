import type { Request, RequestHandler, Response } from 'express'
import { withAuditedErrorPage } from '../pages/error-page.ts'
import type { TokenEvent } from '../server/audit.ts'
import { type Form, readForm } from '../server/form.ts'
import { csrfField, requireOwnForm } from './csrf.ts'
import type { BrowserOptions } from './dependencies.ts'
import { type LoginProgress, readProgressTicket } from './login-progress.ts'
import { readReturnTo, toLoginPath } from './return-to.ts'
import { readBrowserLogin } from './session.ts'

export type Exchange = { readonly req: Request; readonly res: Response }
export type LoginStep = {
  readonly progress: LoginProgress
  readonly form: Form
  /** The audit event, without the user. */
  readonly event: TokenEvent
}

/**
 * Handles the form of a step after the password, which has the ticket of the login's progress. A
 * login whose ticket has expired begins again.
 */
export function createLoginStep(
  options: BrowserOptions,
  endpoint: string,
  take: (exchange: Exchange, step: LoginStep) => Promise<void>,
): RequestHandler {
  const { tools, issuer, audit } = options
  return withAuditedErrorPage(options, endpoint, async (req, res, event) => {
    const form = readForm(req)
    requireOwnForm(req, form, issuer)
    const returnTo = readReturnTo(form.get('return_to'))
    const progress = await readProgressTicket(tools, {
      ...{ ticket: form.get('ticket') ?? '', csrf: form.get(csrfField) ?? '', returnTo },
      sessionUser: async () => (await readBrowserLogin(tools, req))?.user,
    })
    if (progress === undefined) {
      audit.rejected(req, event, 'ticket_invalid')
      return res.redirect(303, toLoginPath(returnTo))
    }
    await take({ req, res }, { progress, form, event })
  })
}
