import type { RequestHandler } from 'express'
import { html } from '../../httpserver/response/html-template.ts'
import { toFormTarget } from '../authorize/csp-form-action.ts'
import { withAuditedErrorPage, withErrorPage } from '../pages/error-page.ts'
import { hiddenFields, sendPage } from '../pages/page.ts'
import { readForm, readParameters } from '../server/form.ts'
import { issueCsrfToken, requireOwnForm } from './csrf.ts'
import type { BrowserOptions } from './dependencies.ts'
import { factorsPath, toLoginPath } from './return-to.ts'
import { endBrowserLogin, readBrowserLogin } from './session.ts'
import { findLogoutUrl, readLogoutTarget, toUpstreamLogout } from './upstream-logout.ts'

/** GET /oauth/session: shows the user of the browser session, with a logout button. */
export function createSessionPage({ tools, productName: product }: BrowserOptions): RequestHandler {
  return withErrorPage(product, async (req, res) => {
    const login = await readBrowserLogin(tools, req)
    if (login === undefined) return res.redirect(302, toLoginPath('/oauth/session'))
    const csrf = issueCsrfToken(req, res)
    const { name, displayName } = login.user
    const body = html`<p>You are <strong>${displayName === '' ? name : `${displayName} (${name})`}</strong>.</p>
<form method="post" action="/oauth/session">
${hiddenFields({ csrf })}
<button>Log out</button>
</form>
<p class="or">or</p>
<a class="button second" href="${factorsPath}">Second factors</a>`
    // The form may redirect to the identity provider.
    const upstream = findLogoutUrl(tools, login.provider)?.({ returnUri: '', state: '', idToken: '' })
    const formTargets = upstream === undefined ? [] : [toFormTarget(upstream.href)]
    sendPage(res, { product, title: 'You are logged in', body, formTargets })
  })
}

/** POST /oauth/session: ends the browser session, and the logins at clients that began in it. */
export function createSessionEnd(options: BrowserOptions): RequestHandler {
  const { tools, issuer, audit } = options
  return withAuditedErrorPage(options, 'logout', async (req, res, event) => {
    requireOwnForm(req, readForm(req), issuer)
    const login = await endBrowserLogin(tools, { req, res })
    if (login !== undefined) Object.assign(event, { user: login.user.name, sid: login.sid })
    audit.succeeded(req, event)
    const upstream = login && (await toUpstreamLogout({ tools, issuer, req }, login, undefined))
    res.set('cache-control', 'no-store').redirect(303, upstream ?? '/oauth/logged-out')
  })
}

/**
 * GET /oauth/logged-out: the page after a logout without a redirect URI of a client. Identity
 * providers also redirect here after a logout.
 */
export function createLoggedOutPage({ tools, productName: product }: BrowserOptions): RequestHandler {
  return withErrorPage(product, async (req, res) => {
    const target = await readLogoutTarget(tools, readParameters(req).get('state') ?? '')
    if (target !== undefined) return res.set('cache-control', 'no-store').redirect(302, target)
    const body = html`<p role="status">You are logged out in this browser. Applications may keep their own sessions.</p>
<p><a class="button second" href="/oauth/login">Log in again</a></p>`
    sendPage(res, { product, title: 'You are logged out', body })
  })
}
