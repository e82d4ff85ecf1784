import { type Html, html } from '../../httpserver/response/html-template.ts'
import { errorNote, hiddenFields } from './page.ts'

/** Renders the page on which users enter the code of a device. */
export function userCodePage(page: { csrf: string; userCode: string; error: string | undefined }): Html {
  const { csrf, userCode, error } = page
  const describedBy = html` aria-describedby="format${error === undefined ? '' : ' error'}"`
  return html`${errorNote(error)}
<p>Enter the code that the device or the program shows.</p>
<form method="post" action="/oauth/device">
${hiddenFields({ csrf })}
<label for="user-code">Code</label>
<p class="quiet" id="format">Eight letters, such as WDJB-MJHT. Case, spaces and the dash do not matter.</p>
<input id="user-code" name="user_code" value="${userCode}" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20" required autofocus${describedBy}>
<button>Continue</button>
</form>`
}

/**
 * Renders the page that asks whether a device may log in. Another person may have sent the link for
 * their own device, so the page states exactly what will happen.
 */
export function devicePage(page: {
  csrf: string
  userCode: string
  clientName: string
  username: string
}): Html {
  const { csrf, userCode, clientName, username } = page
  return html`<p>A device with the application <strong>${clientName}</strong> shows this code:</p>
<p class="code">${userCode}</p>
<p>If you continue, the device is logged in as you, <strong>${username}</strong>, with all your permissions. Continue only if the device is yours and shows exactly this code.</p>
<form method="post" action="/oauth/device">
${hiddenFields({ csrf, user_code: userCode, username })}
<button name="decision" value="allow">Log the device in</button>
<button name="decision" value="deny" class="second">Deny</button>
</form>`
}
