import type { RequestHandler, Response } from 'express'
import type { Enrolment, EnteredCode } from '../../../iam/factors/factor-service.ts'
import { hasFactors } from '../../../iam/factors/factors.ts'
import type { PasswordVerdict } from '../../../iam/passwords/password-check.ts'
import { endLoginsWithoutFactor } from '../../../iam/sessions/revoke-session.ts'
import { type FactorMethod, hasOwnFactor, withFactor } from '../../../jwt/authentication-methods.ts'
import { clientInfoOf } from '../../server/client-info.ts'
import type { Form } from '../../server/form.ts'
import { disconnectSignal } from '../../tokens/token-endpoint.ts'
import { continueLogin } from '../continue-login.ts'
import type { BrowserOptions } from '../dependencies.ts'
import { explainLock } from '../login-failure.ts'
import type { LoginProgress } from '../login-progress.ts'
import { createLoginStep, type Exchange, type LoginStep } from '../login-step.ts'
import { readBrowserLogin } from '../session.ts'
import { type NewFactor, sendFactorPage, sendRecoveryCodes, sendSetUpPage } from './factor-pages.ts'
import { explainFactor, type FactorProblem } from './factor-problem.ts'
import { readAssertion, readPasskeyName, readRegistration } from './passkey-parameters.ts'

type FactorCheck = {
  readonly verdict: PasswordVerdict
  readonly problem: FactorProblem
  readonly methods: readonly FactorMethod[]
}

const passkeyMethods: readonly FactorMethod[] = ['pop', 'user']

/** POST /oauth/factor: a passkey, an app's code or a recovery code, after the password. */
export function createFactorCheck(options: BrowserOptions): RequestHandler {
  const { audit } = options
  return createLoginStep(options, 'second-factor', async ({ req, res }, { progress, form, event }) => {
    // The form of the page with recovery codes: the login has set up and proven its factor.
    if (hasOwnFactor(progress.amr)) return continueLogin(options, { req, res }, progress, event)
    const entered = readEntered(form)
    // The factors were removed since the page was sent.
    if (!hasFactors(await options.tools.factors.read(progress.user)))
      return continueLogin(options, { req, res }, progress, event)
    event.user = progress.user.name
    const { verdict, problem, methods } = await checkFactor(options, { req, res }, progress, entered)
    if (verdict.outcome === 'right') {
      const proven = { ...progress, amr: withFactor(progress.amr, methods) }
      return continueLogin(options, { req, res }, proven, event)
    }
    audit.rejected(req, event, verdict.outcome === 'locked' ? 'locked' : problem)
    await sendFactorPage(options, { req, res }, progress, toProblem(res, verdict, problem))
  })
}

type EnteredFactor = { readonly passkey: ReturnType<typeof readAssertion> } | EnteredCode

function readEntered(form: Form): EnteredFactor {
  if (form.has('passkey')) return { passkey: readAssertion(form) }
  const recoveryCode = form.get('recovery_code')
  return recoveryCode === undefined
    ? { kind: 'totp', code: form.get('code') ?? '' }
    : { kind: 'recovery', code: recoveryCode }
}

async function checkFactor(
  { tools }: BrowserOptions,
  { req, res }: Exchange,
  { user, challenge = '' }: LoginProgress,
  entered: EnteredFactor,
): Promise<FactorCheck> {
  const attempt = { user, source: clientInfoOf(req), signal: disconnectSignal(res) }
  if ('passkey' in entered) {
    const checked = await tools.factors.checkPasskey(attempt, { response: entered.passkey, challenge })
    return { ...checked, methods: passkeyMethods }
  }
  const verdict = await tools.factors.checkCode(attempt, entered)
  return { verdict, problem: 'wrong_code', methods: ['otp'] }
}

/** POST /oauth/factor/totp: the first code of a new authenticator app proves its secret. */
export function createTotpEnrolment(options: BrowserOptions): RequestHandler {
  return createEnrolment(options, 'totp', ['otp'], async ({ progress, form }) => {
    const { user, totpSecret: secret } = progress
    if (secret === undefined) return { outcome: 'refused' }
    const mayReplace = hasOwnFactor(progress.amr)
    return options.tools.factors.addTotp(user, { secret, code: form.get('code') ?? '', mayReplace })
  })
}

/** POST /oauth/factor/passkey: a passkey that the browser has created. */
export function createPasskeyEnrolment(options: BrowserOptions): RequestHandler {
  return createEnrolment(options, 'passkey', passkeyMethods, async ({ progress, form }) => {
    const { user, challenge } = progress
    if (challenge === undefined) return { outcome: 'refused' }
    const response = { response: readRegistration(form), challenge }
    const mayReplace = hasOwnFactor(progress.amr)
    return options.tools.factors.addPasskey(user, { ...response, name: readPasskeyName(form), mayReplace })
  })
}

function createEnrolment(
  options: BrowserOptions,
  chosen: NewFactor,
  methods: readonly FactorMethod[],
  add: (step: LoginStep) => Promise<Enrolment>,
): RequestHandler {
  const { tools, audit } = options
  return createLoginStep(options, 'second-factor-enrolment', async (exchange, step) => {
    const { req } = exchange
    const { progress, event } = step
    const { user } = progress
    event.user = user.name
    event.action = `add-${chosen}`
    const added = await add(step)
    if (added.outcome === 'refused') {
      // The user has set up a factor in another browser in the meantime: the next page asks for it.
      audit.rejected(req, event, 'second_factor_required')
      return continueLogin(options, exchange, progress, { endpoint: 'second-factor' })
    }
    if (added.outcome !== 'stored') {
      audit.rejected(req, event, added.outcome)
      const error = explainFactor(added.outcome, 'new')
      return sendSetUpPage(options, exchange, progress, { chosen, error })
    }
    const current = await readBrowserLogin(tools, req)
    await endLoginsWithoutFactor(tools.sessions, user.name, current?.sid)
    audit.succeeded(req, event)
    const proven = { ...progress, amr: withFactor(progress.amr, methods) }
    if (added.recoveryCodes.length > 0)
      return sendRecoveryCodes(options, exchange, proven, added.recoveryCodes)
    return continueLogin(options, exchange, proven, { endpoint: 'second-factor' })
  })
}

function toProblem(res: Response, verdict: PasswordVerdict, problem: FactorProblem) {
  if (verdict.outcome !== 'locked') return { code: 400, error: explainFactor(problem, 'known') }
  const { retryAfterSeconds } = verdict
  res.set('retry-after', String(retryAfterSeconds))
  return { code: 429, error: explainLock(problem === 'wrong_code' ? 'codes' : 'attempts', retryAfterSeconds) }
}
