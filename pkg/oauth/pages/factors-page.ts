import { type Html, html } from '../../httpserver/response/html-template.ts'
import type { Factors } from '../../iam/factors/factors.ts'
import { maxPasskeys, type Passkey } from '../../iam/factors/passkey.ts'
import { hiddenFields } from './page.ts'

export type FactorsPage = {
  readonly csrf: string
  readonly username: string
  readonly factors: Factors
  /** Whether passkeys can be created for the issuer. */
  readonly hasPasskeys: boolean
  /** Whether the policy keeps the user from removing the last factor. */
  readonly isRequired: boolean
}

/** The second factors of a user, with buttons to change them. */
export function factorsPage({ csrf, username, factors, hasPasskeys, isRequired }: FactorsPage): Html {
  const { totp, passkeys, recoveryCodes } = factors
  const count = passkeys.length + (totp === undefined ? 0 : 1)
  const mayRemove = count > 1 || !isRequired
  return html`<p>Second factors of <strong>${username}</strong>, asked for after the password.</p>
${hasPasskeys || passkeys.length > 0 ? passkeysPart(csrf, passkeys, mayRemove) : undefined}
<h2>Authenticator app</h2>
<p>${totp === undefined ? 'No app is set up.' : 'An app is set up.'}</p>
<form method="post" action="/oauth/factors">
${hiddenFields({ csrf })}
<button name="action" value="set-up-totp" class="second">${totp === undefined ? 'Set up an app' : 'Replace the app'}</button>
${totp !== undefined && mayRemove ? html`<button name="action" value="remove-totp" class="second">Remove the app</button>` : undefined}
</form>
${count > 0 && !mayRemove ? html`<p class="quiet">You need a second factor, so the last one can only be replaced.</p>` : undefined}
${count > 0 ? codes(csrf, recoveryCodes.length) : undefined}
<p class="or">or</p>
<a class="button second" href="/oauth/session">Back to your login</a>`
}

function passkeysPart(csrf: string, passkeys: readonly Passkey[], mayRemove: boolean): Html {
  return html`<h2>Passkeys</h2>
${passkeys.length === 0 ? html`<p>There are none.</p>` : passkeys.map(passkey => passkeyPart(csrf, passkey, mayRemove))}
${
  passkeys.length < maxPasskeys
    ? html`<form method="post" action="/oauth/factors">
${hiddenFields({ csrf })}
<button name="action" value="set-up-passkey"${passkeys.length === 0 ? undefined : html` class="second"`}>Add a passkey</button>
</form>`
    : html`<p class="quiet">There can be ${maxPasskeys} passkeys.</p>`
}`
}

function passkeyPart(
  csrf: string,
  { id, name, createdAtMs, lastUsedAtMs }: Passkey,
  mayRemove: boolean,
): Html {
  return html`<details>
<summary><strong>${name}</strong>, used ${dateOf(lastUsedAtMs)}</summary>
<form method="post" action="/oauth/factors">
${hiddenFields({ csrf, passkey: id })}
<p class="quiet">Created ${dateOf(createdAtMs)}.</p>
<label for="name-${id}">Name</label>
<input id="name-${id}" name="name" value="${name}" maxlength="64" autocomplete="off" required>
<button name="action" value="rename-passkey" class="second">Rename</button>
${mayRemove ? html`<button name="action" value="remove-passkey" class="second" formnovalidate>Remove</button>` : undefined}
</form>
</details>
`
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function codes(csrf: string, left: number): Html {
  return html`<h2>Recovery codes</h2>
<p>${left === 1 ? 'One code is' : `${left} codes are`} left. New codes replace all earlier ones.</p>
<form method="post" action="/oauth/factors">
${hiddenFields({ csrf })}
<button name="action" value="renew-codes" class="second">Create new codes</button>
</form>`
}
