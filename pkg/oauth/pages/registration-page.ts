import { type Html, html } from '../../httpserver/response/html-template.ts'
import { errorNote, hiddenFields } from './page.ts'

export type RegistrationPage = {
  readonly csrf: string
  readonly returnTo: string
  /** The registration ticket with the account data of the provider. */
  readonly ticket: string
  readonly providerName: string
  /** Name of the account at the provider. */
  readonly account: string
  readonly email: string
  /** The suggested or previously entered user name. */
  readonly username: string
  readonly error: string | undefined
}

const nameRule = 'Lower-case letters, digits, “-” and “.”; 63 characters at most. It cannot be changed later.'

/** Renders the page for the first login of an account, which creates a user. */
export function registrationPage(page: RegistrationPage): Html {
  const { csrf, returnTo, ticket, providerName, account, email, username, error } = page
  const describedBy = html` aria-describedby="rule${error === undefined ? '' : ' error'}"`
  return html`${errorNote(error)}
<p>You are <strong>${account}</strong> at <strong>${providerName}</strong>, and log in here for the first time. Choose your user name.</p>
<form method="post" action="/oauth/register">
${hiddenFields({ csrf, return_to: returnTo, ticket })}
<label for="username">User name</label>
<p class="quiet" id="rule">${nameRule}</p>
<input id="username" name="username" value="${username}" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="63" required autofocus${describedBy}>
<p class="quiet">Your e-mail address: ${email}</p>
<button>Create my user</button>
</form>
${wayBack(returnTo)}`
}

/** Renders the page that links an account to an existing user, after the password of that user. */
export function linkPage(page: RegistrationPage): Html {
  const { csrf, returnTo, ticket, providerName, account, username, error } = page
  const describedBy = error === undefined ? undefined : html` aria-describedby="error"`
  return html`${errorNote(error)}
<p>No user here belongs to <strong>${account}</strong> at <strong>${providerName}</strong>. If you have a user, enter its password to link it: after that, <strong>${account}</strong> at the provider logs in as this user. If you have none, ask an administrator.</p>
<form method="post" action="/oauth/link">
${hiddenFields({ csrf, return_to: returnTo, ticket })}
<label for="username">User name or e-mail address</label>
<input id="username" name="username" value="${username}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="254" required autofocus${describedBy}>
<label for="password">Password</label>
<div class="password"><input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required${describedBy}></div>
<button>Link my user</button>
</form>
${wayBack(returnTo)}`
}

function wayBack(returnTo: string): Html {
  const path = `/oauth/login?${new URLSearchParams({ return_to: returnTo })}`
  return html`<p class="or">or</p>
<a class="button second" href="${path}">Log in with another account</a>`
}
