import { type Html, html } from '../../httpserver/response/html.ts'
import { hiddenFields } from './page.ts'

export type FactorsPage = {
  readonly csrf: string
  readonly username: string
  readonly hasTotp: boolean
  /** Whether the policy requires a second factor, so that the user cannot remove the last one. */
  readonly isRequired: boolean
  readonly recoveryCodes: number
}

/** Renders the second factors of a user, with buttons to change them. */
export function factorsPage({ csrf, username, hasTotp, isRequired, recoveryCodes }: FactorsPage): Html {
  return html`<p>Second factors of <strong>${username}</strong>, asked for after the password.</p>
<h2>Authenticator app</h2>
<p>${hasTotp ? 'An app is set up.' : 'No app is set up.'}</p>
<form method="post" action="/oauth/factors">
${hiddenFields({ csrf })}
<button name="action" value="set-up-totp"${hasTotp ? html` class="second"` : undefined}>${hasTotp ? 'Replace the app' : 'Set up an app'}</button>
${hasTotp && !isRequired ? html`<button name="action" value="remove-totp" class="second">Remove the app</button>` : undefined}
</form>
${hasTotp && isRequired ? html`<p class="quiet">You need a second factor, so the last one can only be replaced.</p>` : undefined}
${hasTotp ? codes(csrf, recoveryCodes) : undefined}
<p class="or">or</p>
<a class="button second" href="/oauth/session">Back to your login</a>`
}

function codes(csrf: string, left: number): Html {
  return html`<h2>Recovery codes</h2>
<p>${left === 1 ? 'One code is' : `${left} codes are`} left. New codes replace all earlier ones.</p>
<form method="post" action="/oauth/factors">
${hiddenFields({ csrf })}
<button name="action" value="renew-codes" class="second">Make new codes</button>
</form>`
}
