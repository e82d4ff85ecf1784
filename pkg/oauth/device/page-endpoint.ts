import { randomUUID } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import { sourceNetwork } from '../../httpserver/request/client-address.ts'
import { html } from '../../httpserver/response/html-template.ts'
import { createLockout, type Lockout, secondsUntil } from '../../iam/lockout/lockout.ts'
import type { DeviceAuthorization } from '../../iam/sessions/device-authorization.ts'
import { issueCsrfToken, requireOwnForm } from '../browser/csrf.ts'
import type { BrowserOptions } from '../browser/dependencies.ts'
import { toLoginPath } from '../browser/return-to.ts'
import { type BrowserLogin, readBrowserLogin } from '../browser/session.ts'
import { devicePage, userCodePage } from '../pages/device-page.ts'
import { withAuditedErrorPage, withErrorPage } from '../pages/error-page.ts'
import { sendPage } from '../pages/page.ts'
import type { TokenEvent } from '../server/audit.ts'
import { clientInfoOf } from '../server/client-info.ts'
import { oauthError } from '../server/error.ts'
import { readForm, readParameters } from '../server/form.ts'
import { readUserCode, toDeviceName } from './user-code.ts'

// RFC 8628 section 5.1: guessing one of 25,600,000,000 codes with so few attempts is hopeless.
const perUser = { maxTries: 10, durationSeconds: 600 }
const perAddress = { maxTries: 50, durationSeconds: 600 }

type Exchange = { readonly req: Request; readonly res: Response }

/** Creates the handlers of the page for user codes. */
export function createDevicePages(options: BrowserOptions): {
  readonly show: RequestHandler
  readonly decide: RequestHandler
} {
  const lockout = createLockout({ rules: { user: perUser, address: perAddress } })
  return { show: createShow(options, lockout), decide: createDecision(options, lockout) }
}

/**
 * GET /oauth/device (RFC 8628 section 3.3): shows the page for user codes to logged-in users. If
 * the link contains the code, the user does not enter it, but compares it (section 3.3.1).
 */
function createShow(
  { tools, audit, productName: product }: BrowserOptions,
  lockout: Lockout,
): RequestHandler {
  return withErrorPage(product, async (req, res) => {
    const typed = readParameters(req).get('user_code') ?? ''
    const userCode = readUserCode(typed) ?? ''
    const login = await readBrowserLogin(tools, req)
    if (login === undefined)
      return res.redirect(
        302,
        toLoginPath(userCode === '' ? '/oauth/device' : `/oauth/device?user_code=${userCode}`),
      )
    if (typed === '') return sendUserCodePage(product, { req, res }, { userCode })
    const event: TokenEvent = { endpoint: 'device', user: login.user.name }
    try {
      const device = await findDevice(tools, lockout, { req, login, typed })
      if (device === undefined) {
        audit.rejected(req, event, 'unknown_user_code')
        return sendUserCodePage(product, { req, res }, { userCode: typed, error: unknownCode })
      }
      sendDecisionPage(product, { req, res }, { device, userCode, username: login.user.name })
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
  })
}

type UserCodeEntry = { readonly req: Request; readonly login: BrowserLogin; readonly typed: string }

/** Returns the device that waits with a user code. @throws Status 429 after many unknown codes */
async function findDevice(
  tools: BrowserOptions['tools'],
  lockout: Lockout,
  { req, login, typed }: UserCodeEntry,
): Promise<DeviceAuthorization | undefined> {
  const keys = [`user:${login.user.name}`, `address:${sourceNetwork(clientInfoOf(req).address)}`] as const
  const attempt = await lockout.begin(keys)
  if (typeof attempt === 'number')
    throw oauthError(429, 'slow_down', 'too many wrong codes: try again in ten minutes', {
      headers: { 'retry-after': String(secondsUntil(attempt)) },
      why: 'too_many_user_codes',
      user: login.user.name,
    })
  let device: DeviceAuthorization | undefined
  let isWrong = false
  try {
    const userCode = readUserCode(typed)
    const found = userCode === undefined ? undefined : await tools.devices.read(toDeviceName(userCode))
    device = found?.decision === '' ? found : undefined
    isWrong = device === undefined
  } finally {
    if (isWrong) attempt.failed()
    else attempt.passed()
  }
  return device
}

/** POST /oauth/device: first the user code, then the decision. */
function createDecision(options: BrowserOptions, lockout: Lockout): RequestHandler {
  const { tools, issuer, audit, productName: product } = options

  /** @returns the reason why the device was not logged in; undefined if it was */
  async function decide(
    { req, res }: Exchange,
    { device, login, decision }: { device: DeviceAuthorization; login: BrowserLogin; decision: string },
  ): Promise<string | undefined> {
    const isApproved = decision === 'allow'
    const { user, sid: browserSid, authTime, amr, provider } = login
    const session = {
      user: user.name,
      userUid: user.uid,
      provider,
      authTime,
      amr,
      browserSid,
      sid: randomUUID(),
    }
    const isFirst = await tools.devices.update({
      ...device,
      ...session,
      decision: isApproved ? 'Approved' : 'Denied',
    })
    if (!isFirst) {
      sendUserCodePage(product, { req, res }, { userCode: '', error: unknownCode })
      return 'user_code_used'
    }
    const body = isApproved
      ? html`<p role="status">The device is logged in as <strong>${user.name}</strong>. You can close this page and continue on the device.</p>`
      : html`<p role="status">The device is not logged in. You can close this page.</p>`
    sendPage(res, { product, title: isApproved ? 'Done' : 'Refused', body })
    return isApproved ? undefined : 'consent_refused'
  }

  return withAuditedErrorPage(options, 'device', async (req, res, event) => {
    const form = readForm(req)
    requireOwnForm(req, form, issuer)
    const login = await readBrowserLogin(tools, req)
    if (login === undefined) {
      audit.rejected(req, event, 'login_required')
      return res.redirect(303, toLoginPath('/oauth/device'))
    }
    event.user = login.user.name
    const typed = form.get('user_code') ?? ''
    const device = await findDevice(tools, lockout, { req, login, typed })
    if (device === undefined) {
      audit.rejected(req, event, 'unknown_user_code')
      return sendUserCodePage(product, { req, res }, { userCode: typed, error: unknownCode })
    }
    event.client = device.clientId
    const decision = form.get('decision')
    // Another user may have logged in since the page was shown, and must be asked first.
    if (decision === undefined || form.get('username') !== login.user.name) {
      audit.pending(req, event, 'consent_required')
      const userCode = readUserCode(typed) ?? ''
      return sendDecisionPage(product, { req, res }, { device, userCode, username: login.user.name })
    }
    const rejection = await decide({ req, res }, { device, login, decision })
    if (rejection === undefined) audit.succeeded(req, event)
    else audit.rejected(req, event, rejection)
  })
}

const unknownCode = 'Unknown or expired code.'

function sendDecisionPage(
  product: string,
  { req, res }: Exchange,
  { device, ...page }: { device: DeviceAuthorization; userCode: string; username: string },
): void {
  const csrf = issueCsrfToken(req, res)
  const body = devicePage({ csrf, ...page, clientName: device.clientId })
  sendPage(res, { product, title: 'Log in a device?', body })
}

function sendUserCodePage(
  product: string,
  { req, res }: Exchange,
  { userCode, error }: { userCode: string; error?: string },
): void {
  const body = userCodePage({ csrf: issueCsrfToken(req, res), userCode, error })
  sendPage(res, { product, title: 'Log in a device', body, code: error === undefined ? 200 : 400 })
}
