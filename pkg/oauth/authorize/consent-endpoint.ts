import type { Request, RequestHandler, Response } from 'express'
import { issueCsrfToken, requireOwnForm } from '../browser/csrf.ts'
import type { BrowserOptions } from '../browser/dependencies.ts'
import { issueLoginProof, proofParameter, readLoginProof } from '../browser/login-proof.ts'
import { toLoginPath } from '../browser/return-to.ts'
import { type BrowserLogin, readBrowserLogin } from '../browser/session.ts'
import { consentPage } from '../pages/consent-page.ts'
import { withAuditedErrorPage } from '../pages/error-page.ts'
import { sendPage } from '../pages/page.ts'
import { oauthError } from '../server/error.ts'
import { type Form, parseQuery, readForm } from '../server/form.ts'
import { sendAuthorizationResponse, toResponse } from './authorization-response.ts'
import { toFormTarget } from './csp-form-action.ts'
import { type AuthorizeRequest, findTarget, readAuthorizeRequest, type Target } from './request.ts'
import { sendCode } from './send-code.ts'

const path = '/oauth/consent'

type Exchange = { readonly req: Request; readonly res: Response }

/**
 * Shows the consent page. Its form contains the whole authorization request, which is validated
 * again when the form is submitted. The form also contains a proof that the page was shown for this
 * request and login: otherwise a form of another request could skip a login that the client
 * requires (prompt=login, max_age).
 */
export async function sendConsentPage(
  { productName, tools }: BrowserOptions,
  { req, res }: Exchange,
  page: { target: Target; request: AuthorizeRequest; params: Form; login: BrowserLogin },
): Promise<void> {
  const { target, request, params, login } = page
  const username = login.user.name
  const proof = await issueLoginProof(tools.internalJwts, params, { kind: 'consent', sid: login.sid })
  const body = consentPage({
    csrf: issueCsrfToken(req, res),
    username,
    clientName: target.client.name,
    scope: request.scope,
    target: `You will be redirected to ${target.redirectUri}`,
    action: path,
    fields: { request: String(new URLSearchParams([...params])), username, [proofParameter]: proof },
  })
  const formTargets = [toFormTarget(target.redirectUri)]
  sendPage(res, { product: productName, title: `Allow ${target.client.name}?`, body, formTargets })
}

/** POST /oauth/consent: the decision of the user. */
export function createConsent(options: BrowserOptions): RequestHandler {
  const { registry, tools, issuer, audit } = options
  return withAuditedErrorPage(options, 'authorize', async (req, res, event) => {
    const form = readForm(req)
    requireOwnForm(req, form, issuer)
    const params = parseQuery(form.get('request') ?? '')
    const target = findTarget(registry, params)
    event.client = target.client.name
    const login = await readBrowserLogin(tools, req)
    // Another user may have logged in since the page was shown, and must be asked first.
    if (login === undefined || login.user.name !== form.get('username')) {
      audit.rejected(req, event, 'login_required')
      return res.redirect(303, toLoginPath(toPath(params)))
    }
    event.user = login.user.name
    const proof = form.get(proofParameter)
    if ((await readLoginProof(tools.internalJwts, proof, { sid: login.sid, params })) !== 'consent') {
      audit.pending(req, event, 'consent_required')
      return res.redirect(303, toPath(params))
    }
    try {
      const request = readAuthorizeRequest(params, target.client)
      if (form.get('decision') !== 'allow')
        throw oauthError(403, 'access_denied', 'the user denied access', {
          why: 'consent_refused',
          user: login.user.name,
        })
      await sendCode(options, { req, res }, { target, request, login })
      audit.succeeded(req, event)
    } catch (error) {
      const reported = toResponse(error)
      if (reported === undefined) throw error
      audit.failed(req, event, error)
      sendAuthorizationResponse({ req, res }, target, { ...reported, iss: issuer })
    }
  })
}

function toPath(params: Form): string {
  return `/oauth/authorize?${new URLSearchParams([...params])}`
}
