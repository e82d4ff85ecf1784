import { expect } from 'chai'
import * as oidc from 'openid-client'
import type { Page } from 'playwright-core'
import type { RelyingParty } from './relying-party.ts'

/** Fills in the login page and submits it. */
export async function logIn(page: Page, username: string, password = 'Correct-Horse-1'): Promise<void> {
  await page.getByLabel('User name or e-mail address').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** Opens an authorization request. @returns a function that waits for its tokens */
export async function openAuthorization(
  page: Page,
  config: oidc.Configuration,
  party: RelyingParty,
  more: Readonly<Record<string, string>> = {},
) {
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: party.redirectUri,
    scope: 'openid',
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...more,
  })
  await page.goto(url.href)
  return async () =>
    oidc.authorizationCodeGrant(config, await party.callback(), { pkceCodeVerifier, idTokenExpected: true })
}

/**
 * Expects that all buttons and links are large enough, and that no element is wider than the
 * window.
 */
export async function expectUsable(page: Page): Promise<void> {
  for (const target of await page.locator('button:visible, a.button:visible, summary:visible').all())
    expect((await target.boundingBox())?.height, String(await target.textContent())).to.be.at.least(44)
  const width = page.viewportSize()?.width ?? 0
  expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width)
  for (const part of await page.locator('main *:visible').all()) {
    const box = (await part.boundingBox()) ?? { x: 0, width: 0 }
    expect(box.x + box.width, String(await part.evaluate('node => node.outerHTML'))).to.be.at.most(width)
  }
}
