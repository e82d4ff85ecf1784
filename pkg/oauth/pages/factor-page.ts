import { type Html, html } from '../../httpserver/response/html-template.ts'
import { errorNote, hiddenFields } from './page.ts'
import { passkeyForm, withoutPasskeys } from './passkey-form.ts'

export type FactorPage = {
  readonly csrf: string
  readonly returnTo: string
  /** The progress ticket: proof that the password was just entered. */
  readonly ticket: string
  readonly username: string
  readonly hasTotp: boolean
  /** The options of navigator.credentials.get; undefined for a user without passkeys. */
  readonly passkey: object | undefined
  readonly error: string | undefined
}

/** Renders the page that asks for a passkey, a code of the authenticator app, or a recovery code. */
export function factorPage({ csrf, returnTo, ticket, username, hasTotp, passkey, error }: FactorPage): Html {
  const fields = { csrf, return_to: returnTo, ticket }
  return html`${errorNote(error)}
${passkey && passkeyPart(fields, passkey, { username, hasTotp })}
${hasTotp ? totpPart(fields, { username, error }) : undefined}
<details>
<summary>Use a recovery code</summary>
<form method="post" action="/oauth/factor">
${hiddenFields(fields)}
<label for="recovery-code">Recovery code</label>
<p class="quiet" id="once">Each code works once. If you have none left, ask an administrator.</p>
<input id="recovery-code" name="recovery_code" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="30" required aria-describedby="once">
<button class="second">Continue with a recovery code</button>
</form>
</details>`
}

type Fields = Readonly<Record<string, string>>

function passkeyPart(
  fields: Fields,
  options: object,
  { username, hasTotp }: Pick<FactorPage, 'username' | 'hasTotp'>,
): Html {
  const body = html`<p>Use a passkey of <strong>${username}</strong>.</p>
<button>Continue with a passkey</button>`
  return html`${passkeyForm({ kind: 'get', action: '/oauth/factor', fields, options, body })}
${hasTotp ? html`<p class="or" data-with-passkeys hidden>or</p>` : withoutPasskeys('Your passkey requires JavaScript and a browser that supports passkeys. A recovery code requires neither.')}`
}

function totpPart(fields: Fields, { username, error }: Pick<FactorPage, 'username' | 'error'>): Html {
  const describedBy = error === undefined ? undefined : html` aria-describedby="error"`
  return html`<p>Enter the code that your authenticator app shows for <strong>${username}</strong>.</p>
<form method="post" action="/oauth/factor">
${hiddenFields(fields)}
<label for="code">Code</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" spellcheck="false" maxlength="10" required autofocus${describedBy}>
<button>Continue</button>
</form>`
}
