import type { Request, Response } from 'express'
import type { Html } from '../../../httpserver/response/html-template.ts'
import { newChallenge } from '../../../iam/factors/passkey.ts'
import { newTotpSecret, toTotpUri } from '../../../iam/factors/totp.ts'
import { hasOwnFactor } from '../../../jwt/authentication-methods.ts'
import { type FactorPage, factorPage } from '../../pages/factor-page.ts'
import { type Page, sendPage } from '../../pages/page.ts'
import { recoveryCodesPage, setUpPage } from '../../pages/set-up-page.ts'
import { invalidRequest } from '../../server/error.ts'
import { formTargetsOf } from '../csp-form-targets.ts'
import { issueCsrfToken } from '../csrf.ts'
import type { BrowserOptions } from '../dependencies.ts'
import { issueProgressTicket, type LoginProgress } from '../login-progress.ts'

type Exchange = { readonly req: Request; readonly res: Response }
type Problem = Pick<FactorPage, 'error'> & { readonly code: number }

/** Sends the page that asks the user for the second factor. */
export async function sendFactorPage(
  options: BrowserOptions,
  exchange: Exchange,
  progress: LoginProgress,
  problem?: Problem,
): Promise<void> {
  const { factors } = options.tools
  const { user } = progress
  const challenge = newChallenge()
  const known = await factors.read(user)
  const passkey = await factors.passkeyRequest(known, challenge)
  const shown = { username: user.name, hasTotp: known.totp !== undefined, passkey, error: problem?.error }
  await sendStep(
    options,
    exchange,
    { ...progress, challenge },
    {
      title: 'Second factor',
      code: problem?.code ?? 200,
      script: passkey && 'passkey',
      toBody: fields => factorPage({ ...fields, ...shown }),
    },
  )
}

export type NewFactor = 'totp' | 'passkey'

/**
 * Sends the page that sets up a second factor. A login that has used no factor offers all kinds. The
 * secret of an authenticator app is new unless the page is shown again after an error.
 *
 * @param chosen the kind that a user with a factor adds or replaces
 * @throws Status invalid_request for a passkey if the issuer cannot have passkeys
 */
export async function sendSetUpPage(
  options: BrowserOptions,
  exchange: Exchange,
  progress: LoginProgress,
  { chosen = 'totp', error }: { readonly chosen?: NewFactor; readonly error?: string | undefined } = {},
): Promise<void> {
  const { user, totpSecret = newTotpSecret() } = progress
  const isFirst = !hasOwnFactor(progress.amr)
  const challenge = newChallenge()
  const passkey =
    isFirst || chosen === 'passkey' ? await options.tools.factors.passkeyCreation(user, challenge) : undefined
  if (passkey === undefined && chosen === 'passkey')
    throw invalidRequest('passkeys are not available: the issuer has no host name')
  const uri = toTotpUri(totpSecret, { issuer: options.productName, label: user.name })
  const totp = isFirst || chosen === 'totp' ? { uri, secret: totpSecret } : undefined
  await sendStep(
    options,
    exchange,
    { ...progress, totpSecret: totp?.secret, challenge },
    {
      title: titleOf(totp, passkey),
      code: error === undefined ? 200 : 400,
      script: passkey && 'passkey',
      toBody: fields => setUpPage({ ...fields, totp, passkey, error }),
    },
  )
}

function titleOf(totp: object | undefined, passkey: object | undefined): string {
  if (passkey === undefined) return 'Set up an authenticator app'
  return totp === undefined ? 'Add a passkey' : 'Set up a second factor'
}

/** Shows new recovery codes once; the login continues when the user has stored them. */
export function sendRecoveryCodes(
  options: BrowserOptions,
  exchange: Exchange,
  progress: LoginProgress,
  codes: readonly string[],
): Promise<void> {
  return sendStep(
    options,
    exchange,
    { ...progress, totpSecret: undefined, challenge: undefined },
    {
      title: 'Your recovery codes',
      code: 200,
      toBody: fields => recoveryCodesPage({ ...fields, codes }),
    },
  )
}

type Step = Pick<Page, 'title' | 'script'> & {
  readonly code: number
  readonly toBody: (fields: { csrf: string; returnTo: string; ticket: string }) => Html
}

async function sendStep(
  { tools, registry, productName: product }: BrowserOptions,
  { req, res }: Exchange,
  progress: LoginProgress,
  { toBody, ...page }: Step,
): Promise<void> {
  const { returnTo } = progress
  const csrf = issueCsrfToken(req, res)
  const ticket = await issueProgressTicket(tools, progress, csrf)
  const body = toBody({ csrf, returnTo, ticket })
  sendPage(res, { ...page, product, body, formTargets: formTargetsOf(registry, returnTo) })
}
