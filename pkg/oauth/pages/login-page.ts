import { type Html, html } from '../../httpserver/response/html-template.ts'
import type { LoginButton } from '../login-buttons.ts'
import { errorNote, hiddenFields } from './page.ts'

/** The current login of the browser, and the link to continue with it. */
export type CurrentLogin = { readonly username: string; readonly href: string }

export type LoginPage = {
  readonly csrf: string
  readonly returnTo: string
  /** The provider of kind `password` that checks the password; undefined for local users. */
  readonly provider: LoginButton | undefined
  readonly buttons: readonly LoginButton[]
  /** The current login, if the client asks for an account selection. */
  readonly current: CurrentLogin | undefined
  /** The user name entered before, or suggested by the client. */
  readonly username: string
  readonly error: string | undefined
}

/** Renders the password form and buttons for the other ways to log in. */
export function loginPage(page: LoginPage): Html {
  const { csrf, returnTo, provider, buttons, current, username, error } = page
  const describedBy = error === undefined ? undefined : html` aria-describedby="error"`
  const focus = (isHere: boolean) => (isHere ? html` autofocus` : undefined)
  const others = buttons.filter(({ name }) => name !== provider?.name)
  return html`${errorNote(error)}
${current && continueWith(current)}
<form method="post" action="/oauth/login">
${hiddenFields({ csrf, return_to: returnTo, ...(provider ? { provider: provider.name } : {}) })}
<label for="username">${provider ? 'User name' : 'User name or e-mail address'}</label>
<input id="username" name="username" value="${username}" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="254" required${focus(username === '')}${describedBy}>
<label for="password">Password</label>
<div class="password"><input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required${focus(username !== '')}${describedBy}></div>
<button${current && html` class="second"`}>${provider ? provider.displayName : 'Log in'}</button>
</form>
${provider || others.length > 0 ? otherWays(others, returnTo, provider !== undefined) : undefined}`
}

function continueWith({ username, href }: CurrentLogin): Html {
  return html`<p><a class="button" href="${href}">Continue as ${username}</a></p>
<p class="or">or log in with another account</p>`
}

function otherWays(buttons: readonly LoginButton[], returnTo: string, withOwn: boolean): Html {
  const link = (path: string, query: Readonly<Record<string, string>>, text: string) =>
    html`<a class="button second" href="${`${path}?${new URLSearchParams({ ...query, return_to: returnTo })}`}">${text}</a>\n`
  return html`<p class="or">or</p>
${withOwn ? link('/oauth/login', {}, 'Log in with another account') : undefined}${buttons.map(
  ({ kind, name, path, displayName }) =>
    kind === 'password' ? link('/oauth/login', { provider: name }, displayName) : link(path, {}, displayName),
)}`
}
