import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { createUserAgent, type Page, type UserAgent } from '../peers/user-agent.ts'
import type { Login } from './oauth.ts'
import { issuerUrl } from './oauth-clients.ts'
import { setting } from './run.ts'

/** A redirect URI that is not served; only the URL of the redirect is examined. */
export const redirectUri = 'https://app.test/cb'
export const verifier = 'v'.repeat(43)
export const pkce = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
}

/** Returns a browser that has logged in on the login page. */
export async function logInBrowser(user: Login): Promise<UserAgent> {
  const agent = createUserAgent([readFileSync(setting('KAPIS_CA'), 'utf8')], 'text/html')
  const page = await agent.open(`${await issuerUrl()}/login?return_to=/oauth/session`)
  const last = await agent.submit(page, { csrf: csrfOf(page), return_to: '/oauth/session', ...user })
  expect([last.code, last.url.pathname]).to.deep.equal([200, '/oauth/session'])
  return agent
}

export function csrfOf({ body }: Page): string {
  return /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? ''
}

/** Returns the parameters of the redirect from /oauth/authorize to the client. */
export async function responseTo(
  agent: UserAgent,
  request: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const query = new URLSearchParams({ response_type: 'code', ...request })
  const last = await agent.open(`${await issuerUrl()}/authorize?${query}`, url => url.host === 'app.test')
  const location = new URL(String(last.headers.location))
  expect([last.code, location.origin + location.pathname]).to.deep.equal([302, redirectUri])
  return Object.fromEntries(location.searchParams)
}
