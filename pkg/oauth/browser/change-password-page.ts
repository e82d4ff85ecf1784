import type { Request, Response } from 'express'
import { sendPage } from '../pages/page.ts'
import { passwordPage } from '../pages/password-page.ts'
import { formTargetsOf } from './csp-form-targets.ts'
import { issueCsrfToken } from './csrf.ts'
import type { BrowserOptions } from './dependencies.ts'
import { issueProgressTicket, type LoginProgress } from './login-progress.ts'

/** Sends the page on which a user replaces a password that an administrator has set. */
export async function sendChangePasswordPage(
  { tools, registry, productName }: BrowserOptions,
  { req, res }: { readonly req: Request; readonly res: Response },
  progress: LoginProgress,
  error?: string,
): Promise<void> {
  const { user, returnTo } = progress
  const csrf = issueCsrfToken(req, res)
  const ticket = await issueProgressTicket(tools, progress, csrf)
  sendPage(res, {
    product: productName,
    title: 'Change your password',
    body: passwordPage({ csrf, returnTo, ticket, username: user.name, error }),
    code: error === undefined ? 200 : 400,
    formTargets: formTargetsOf(registry, returnTo),
    script: 'show-password',
  })
}
