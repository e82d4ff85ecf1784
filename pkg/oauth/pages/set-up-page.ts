import { type Html, html } from '../../httpserver/response/html-template.ts'
import { errorNote, hiddenFields } from './page.ts'
import { passkeyForm, withoutPasskeys } from './passkey-form.ts'
import { qrCode } from './qr-code.ts'

type Fields = { readonly csrf: string; readonly returnTo: string; readonly ticket: string }

export type SetUpPage = Fields & {
  /** The `otpauth` URI of an authenticator app, and the secret in it as Base32. */
  readonly totp: { readonly uri: string; readonly secret: string } | undefined
  /** The options of navigator.credentials.create. */
  readonly passkey: object | undefined
  readonly error: string | undefined
}

/** Renders the page that sets up a passkey, an authenticator app, or the one that the user selects. */
export function setUpPage({ csrf, returnTo, ticket, totp, passkey, error }: SetUpPage): Html {
  const fields = { csrf, return_to: returnTo, ticket }
  const isChoice = totp !== undefined && passkey !== undefined
  return html`${errorNote(error)}
<p>A second factor protects your account if someone learns your password.</p>
${passkey && passkeyPart(fields, passkey, isChoice)}
${isChoice ? html`<h2 data-with-passkeys hidden>Or an authenticator app</h2>` : undefined}
${totp && totpPart(fields, totp, error !== undefined)}`
}

function passkeyPart(fields: Readonly<Record<string, string>>, options: object, isChoice: boolean): Html {
  const body = html`<p>A passkey is a key on this device, on your phone or on a security key. It works only at this address, so a fake site cannot use it.</p>
<label for="name">Name, to tell your passkeys apart</label>
<input id="name" name="name" value="Passkey" maxlength="64" autocomplete="off" required>
<button>Create a passkey</button>`
  return html`${isChoice ? html`<h2 data-with-passkeys hidden>Passkey</h2>` : undefined}
${passkeyForm({ kind: 'create', action: '/oauth/factor/passkey', fields, options, body })}
${isChoice ? undefined : withoutPasskeys('A passkey requires JavaScript and a browser that supports passkeys.')}`
}

function totpPart(
  fields: Readonly<Record<string, string>>,
  { uri, secret }: { readonly uri: string; readonly secret: string },
  hasError: boolean,
): Html {
  const describedBy = hasError ? html` aria-describedby="error"` : undefined
  return html`<p>Scan this code with an authenticator app on your phone.</p>
${qrCode(uri, 'QR code for the authenticator app')}
<p><a class="button second" href="${uri}">Open an app on this device</a></p>
<details>
<summary>Enter the key by hand</summary>
<p class="key">${(secret.match(/.{1,4}/g) ?? []).join(' ')}</p>
</details>
<form method="post" action="/oauth/factor/totp">
${hiddenFields(fields)}
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
