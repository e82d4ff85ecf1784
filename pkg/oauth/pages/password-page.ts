import { type Html, html } from '../../httpserver/response/html-template.ts'
import { errorNote, hiddenFields } from './page.ts'

export type PasswordPage = {
  readonly csrf: string
  readonly returnTo: string
  /** The progress ticket: proof that the old password was just entered. */
  readonly ticket: string
  readonly username: string
  readonly error: string | undefined
}

/** Describes the rule that `passwordProblem` checks. */
const passwordRule = '8 to 64 characters, including a lower-case letter, an upper-case letter and a digit'

/** Renders the page on which a user replaces a password that an administrator has set. */
export function passwordPage({ csrf, returnTo, ticket, username, error }: PasswordPage): Html {
  const describedBy = html` aria-describedby="rule${error === undefined ? '' : ' error'}"`
  return html`${errorNote(error)}
<p>Your password was set by an administrator. Choose a new one to continue.</p>
<form method="post" action="/oauth/password">
${hiddenFields({ csrf, return_to: returnTo, ticket })}
<input type="text" name="username" value="${username}" autocomplete="username" hidden>
<label for="new-password">New password</label>
<p class="quiet" id="rule">${passwordRule}.</p>
<div class="password"><input id="new-password" name="new_password" type="password" autocomplete="new-password" minlength="8" maxlength="64" required autofocus${describedBy}></div>
<label for="repeat">The same again</label>
<div class="password"><input id="repeat" name="repeat" type="password" autocomplete="new-password" minlength="8" maxlength="64" required></div>
<button>Change password</button>
</form>`
}
