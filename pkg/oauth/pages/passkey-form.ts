import { type Html, html } from '../../httpserver/response/html-template.ts'
import { hiddenFields } from './page.ts'

export type PasskeyForm = {
  readonly kind: 'create' | 'get'
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  /** The options of navigator.credentials. */
  readonly options: object
  readonly body: Html
}

/** Renders a form that is submitted with a passkey. It is hidden until passkey.js shows it. */
export function passkeyForm({ kind, action, fields, options, body }: PasskeyForm): Html {
  return html`<form method="post" action="${action}" data-passkey="${kind}" data-options="${JSON.stringify(options)}" data-with-passkeys hidden>
${hiddenFields({ ...fields, passkey: '' })}
<p class="error" role="alert" hidden></p>
${body}
</form>`
}

/** Renders the text that a browser without passkeys shows in place of the form. */
export function withoutPasskeys(text: string): Html {
  return html`<p class="quiet" data-without-passkeys>${text}</p>`
}
