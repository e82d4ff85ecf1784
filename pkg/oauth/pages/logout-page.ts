import { type Html, html } from '../../httpserver/response/html-template.ts'
import { hiddenFields } from './page.ts'

export type LogoutPage = {
  readonly csrf: string
  readonly username: string
  /** Name of the client that requests the logout; '' if unknown. */
  readonly clientName: string
  /** The URL and the hidden fields of the form. */
  readonly action: string
  readonly ticket: string
}

/** Renders the confirmation of a logout (OIDC RP-Initiated Logout 1.0 section 2). */
export function logoutPage({ csrf, username, clientName, action, ticket }: LogoutPage): Html {
  const prompt =
    clientName === ''
      ? html`<p>Do you want to log out?</p>`
      : html`<p><strong>${clientName}</strong> asks to log you out. Do you want to log out?</p>`
  return html`<p>You are logged in as <strong>${username}</strong>.</p>
${prompt}
<form method="post" action="${action}">
${hiddenFields({ csrf, ticket, username })}
<button name="decision" value="logout">Log out</button>
<button name="decision" value="stay" class="second">Stay logged in</button>
</form>`
}
