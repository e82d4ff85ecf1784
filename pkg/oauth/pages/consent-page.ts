import { type Html, html } from '../../httpserver/response/html-template.ts'
import { hiddenFields } from './page.ts'

export type ConsentPage = {
  readonly csrf: string
  readonly username: string
  readonly clientName: string
  readonly scope: string
  /** The redirect URI that the decision leads to. */
  readonly target: string
  /** The URL and the hidden fields of the form. */
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
}

const meanings: ReadonlyMap<string, string> = new Map([
  ['openid', 'know who you are'],
  ['profile', 'see your name, user name and groups'],
  ['email', 'see your e-mail address'],
])

/** Renders the page that asks the user whether a client may get the requested scopes. */
export function consentPage(page: ConsentPage): Html {
  const { csrf, username, clientName, scope, target, action, fields } = page
  const granted = scope.split(' ').flatMap(name => meanings.get(name) ?? [])
  return html`<p><strong>${clientName}</strong> wants to act as you, <strong>${username}</strong>, with all your permissions. It could:</p>
<ul>${[...granted, 'use the platform on your behalf'].map(text => html`<li>${text}</li>\n`)}</ul>
<p class="quiet">${target}</p>
<form method="post" action="${action}">
${hiddenFields({ csrf, ...fields })}
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny" class="second">Deny</button>
</form>`
}
