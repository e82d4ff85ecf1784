import type { Request, Response } from 'express'
import type { Html } from '../../../httpserver/response/html.ts'
import { newTotpSecret, toTotpUri } from '../../../iam/factors/totp.ts'
import { type FactorPage, factorPage } from '../../pages/factor-page.ts'
import { sendPage } from '../../pages/page.ts'
import { recoveryCodesPage, totpPage } from '../../pages/totp-page.ts'
import { formTargetsOf } from '../csp-form-targets.ts'
import { issueCsrfToken } from '../csrf.ts'
import type { BrowserOptions } from '../dependencies.ts'
import { issueProgressTicket, type LoginProgress } from '../login-progress.ts'

type Exchange = { readonly req: Request; readonly res: Response }
type Problem = Pick<FactorPage, 'error'> & { readonly code: number }

/** Sends the page that asks the user for the second factor. */
export function sendFactorPage(
  options: BrowserOptions,
  exchange: Exchange,
  progress: LoginProgress,
  problem?: Problem,
): Promise<void> {
  return sendStep(options, exchange, progress, {
    title: 'Second factor',
    code: problem?.code ?? 200,
    toBody: fields => factorPage({ ...fields, username: progress.user.name, error: problem?.error }),
  })
}

/**
 * Sends the page that sets up an authenticator app. It has a new secret unless the page is shown
 * again after an error.
 */
export function sendTotpPage(
  options: BrowserOptions,
  exchange: Exchange,
  progress: LoginProgress,
  error?: string,
): Promise<void> {
  const { totpSecret = newTotpSecret(), user } = progress
  const uri = toTotpUri(totpSecret, { issuer: options.productName, label: user.name })
  return sendStep(
    options,
    exchange,
    { ...progress, totpSecret },
    {
      title: 'Set up an authenticator app',
      code: error === undefined ? 200 : 400,
      toBody: fields => totpPage({ ...fields, uri, secret: totpSecret, error }),
    },
  )
}

/**
 * Shows new recovery codes once. The login continues when the user confirms that they are stored.
 */
export function sendRecoveryCodes(
  options: BrowserOptions,
  exchange: Exchange,
  progress: LoginProgress,
  codes: readonly string[],
): Promise<void> {
  return sendStep(
    options,
    exchange,
    { ...progress, totpSecret: undefined },
    {
      title: 'Your recovery codes',
      code: 200,
      toBody: fields => recoveryCodesPage({ ...fields, codes }),
    },
  )
}

type Step = {
  readonly title: string
  readonly code: number
  readonly toBody: (fields: { csrf: string; returnTo: string; ticket: string }) => Html
}

async function sendStep(
  { tools, registry, productName }: BrowserOptions,
  { req, res }: Exchange,
  progress: LoginProgress,
  { title, code, toBody }: Step,
): Promise<void> {
  const { returnTo } = progress
  const csrf = issueCsrfToken(req, res)
  const ticket = await issueProgressTicket(tools, progress, csrf)
  const body = toBody({ csrf, returnTo, ticket })
  sendPage(res, { product: productName, title, body, code, formTargets: formTargetsOf(registry, returnTo) })
}
