import { type Html, html } from '../../httpserver/response/html.ts'
import { errorNote, hiddenFields } from './page.ts'

export type FactorPage = {
  readonly csrf: string
  readonly returnTo: string
  /** The progress ticket: proof that the password was just entered. */
  readonly ticket: string
  readonly username: string
  readonly error: string | undefined
}

/** Renders the page that asks for a code of the authenticator app, or for a recovery code. */
export function factorPage({ csrf, returnTo, ticket, username, error }: FactorPage): Html {
  const describedBy = error === undefined ? undefined : html` aria-describedby="error"`
  const fields = hiddenFields({ csrf, return_to: returnTo, ticket })
  return html`${errorNote(error)}
<p>Enter the code that your authenticator app shows for <strong>${username}</strong>.</p>
<form method="post" action="/oauth/factor">
${fields}
<label for="code">Code</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" spellcheck="false" maxlength="10" required autofocus${describedBy}>
<button>Continue</button>
</form>
<details>
<summary>Use a recovery code</summary>
<form method="post" action="/oauth/factor">
${fields}
<label for="recovery-code">Recovery code</label>
<p class="quiet" id="once">Each code works once. If you have none left, ask an administrator.</p>
<input id="recovery-code" name="recovery_code" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="30" required aria-describedby="once">
<button class="second">Continue with a recovery code</button>
</form>
</details>`
}
