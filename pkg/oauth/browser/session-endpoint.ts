import type { RequestHandler } from 'express'
import type { TokenEvent } from '../audit.ts'
import { readForm } from '../form.ts'
import { html } from '../pages/html.ts'
import { hiddenFields, sendPage } from '../pages/page.ts'
import { withErrorPage } from '../pages/wrong-page.ts'
import { issueCsrfToken, requireOwnForm } from './csrf.ts'
import type { BrowserOptions } from './options.ts'
import { toLoginPath } from './return-to.ts'
import { endBrowserLogin, readBrowserLogin } from './session.ts'

/** GET /oauth/session: who is logged in with this browser, and the way out. */
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
</form>`
    sendPage(res, { product, title: 'You are logged in', body })
  })
}

/** POST /oauth/session: the browser's login ends. */
export function createSessionEnd({ tools, issuer, audit, productName }: BrowserOptions): RequestHandler {
  return withErrorPage(productName, async (req, res) => {
    const event: TokenEvent = { endpoint: 'logout' }
    try {
      requireOwnForm(req, readForm(req), issuer)
      const login = await endBrowserLogin(tools, { req, res }, 'logout')
      if (login !== undefined) Object.assign(event, { user: login.user.name, sid: login.sid })
      audit.succeeded(req, event)
      res.redirect(303, '/oauth/logged-out')
    } catch (error) {
      audit.failed(req, event, error)
      throw error
    }
  })
}

/** GET /oauth/logged-out: also where a logout without a page of the client's ends. */
export function createLoggedOutPage({ productName: product }: BrowserOptions): RequestHandler {
  return (_req, res) => {
    const body = html`<p role="status">Nobody is logged in with this browser any more. Programs that you have logged in to may keep their own logins.</p>
<p><a class="button second" href="/oauth/login">Log in again</a></p>`
    sendPage(res, { product, title: 'You are logged out', body })
  }
}
