import { totpCode } from '../../../iam/factors/fixtures.ts'
import type { CeremonyOptions, createAuthenticator } from '../../../iam/factors/passkey-fixtures.ts'
import type { HttpResponse } from '../../request-fixtures.ts'
import { type Browser, hiddenFieldsOf } from '../fixtures.ts'

/** Returns the secret on the page that sets up an app. */
export function secretOf({ body }: HttpResponse): string {
  return /secret=([A-Z2-7]{32})/.exec(body)?.[1] ?? ''
}

export function codesOf({ body }: HttpResponse): readonly string[] {
  return [...body.matchAll(/<li>([\w-]{14})<\/li>/g)].map(([, code = '']) => code)
}

/** Sends the form of a button on the settings page. */
export async function changeFactors(
  browser: Browser,
  action: string,
  more: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> {
  const page = await browser.get('/oauth/factors')
  return browser.post('/oauth/factors', { ...hiddenFieldsOf(page.body), action, ...more })
}

/**
 * Sets up an app for the user of the browser. The login continues when the user has stored the
 * codes: `fields` are those of that form.
 */
export async function setUpApp(browser: Browser) {
  const page = await changeFactors(browser, 'set-up-totp')
  const secret = secretOf(page)
  const codes = await browser.post('/oauth/factor/totp', {
    ...hiddenFieldsOf(page.body),
    code: totpCode(secret),
  })
  return { secret, recoveryCodes: codesOf(codes), fields: hiddenFieldsOf(codes.body) }
}

/** The WebAuthn options in the form of a page, and the fields to send with the result. */
export function ceremonyOf({ body }: HttpResponse, kind: 'create' | 'get') {
  const [, form = '', escaped = ''] =
    new RegExp(`(<form[^>]* data-passkey="${kind}" data-options="([^"]*)".*?</form>)`, 's').exec(body) ?? []
  const options: CeremonyOptions = JSON.parse(escaped.replaceAll('&quot;', '"') || '{}')
  return { options, fields: hiddenFieldsOf(form) }
}

type Key = ReturnType<typeof createAuthenticator>

/** Creates a passkey on a page that offers one. */
export function makePasskey(
  browser: Browser,
  page: HttpResponse,
  key: Key,
  name = 'laptop',
): Promise<HttpResponse> {
  const { options, fields } = ceremonyOf(page, 'create')
  return browser.post('/oauth/factor/passkey', { ...fields, name, passkey: key.create(options) })
}

/** Uses a passkey on the page of the second factor. */
export function takePasskey(browser: Browser, page: HttpResponse, key: Key): Promise<HttpResponse> {
  const { options, fields } = ceremonyOf(page, 'get')
  return browser.post('/oauth/factor', { ...fields, passkey: key.get(options) })
}
