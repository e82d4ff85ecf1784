import { type Html, html } from '../../httpserver/response/html.ts'
import { errorNote, hiddenFields } from './page.ts'
import { qrCode } from './qr-code.ts'

type Fields = { readonly csrf: string; readonly returnTo: string; readonly ticket: string }

export type TotpPage = Fields & {
  /** The `otpauth` URI, and the secret in it as Base32. */
  readonly uri: string
  readonly secret: string
  readonly error: string | undefined
}

/** Renders the page that sets up an authenticator app. */
export function totpPage({ csrf, returnTo, ticket, uri, secret, error }: TotpPage): Html {
  const describedBy = error === undefined ? undefined : html` aria-describedby="error"`
  return html`${errorNote(error)}
<p>A second factor protects your account if someone learns your password. Scan this code with an authenticator app on your phone.</p>
${qrCode(uri, 'QR code for the authenticator app')}
<p><a class="button second" href="${uri}">Open an app on this device</a></p>
<details>
<summary>Enter the key by hand</summary>
<p class="key">${(secret.match(/.{1,4}/g) ?? []).join(' ')}</p>
</details>
<form method="post" action="/oauth/factor/totp">
${hiddenFields({ csrf, return_to: returnTo, ticket })}
<label for="code">Code that the app shows</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" spellcheck="false" maxlength="10" required${describedBy}>
<button>Set up</button>
</form>`
}

/** Renders new recovery codes, which are only shown once. */
export function recoveryCodesPage({
  csrf,
  returnTo,
  ticket,
  codes,
}: Fields & { readonly codes: readonly string[] }): Html {
  return html`<p role="status">If you lose your second factor, each of these codes logs you in once. Store them now: they are not shown again.</p>
<ul class="codes">${codes.map(code => html`<li>${code}</li>\n`)}</ul>
<form method="post" action="/oauth/factor">
${hiddenFields({ csrf, return_to: returnTo, ticket })}
<button>I have stored them</button>
</form>`
}
