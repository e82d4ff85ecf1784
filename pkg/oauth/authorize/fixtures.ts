import { createHash } from 'node:crypto'
import { createBrowser, locationOf } from '../browser/fixtures.ts'
import { startApp } from '../fixtures.ts'
import { memoryClient } from '../memory-fixtures.ts'

export const redirectUri = 'https://app.test/cb'
export const state = 's t&=ä'
export const verifier = 'v'.repeat(43)
export const challenge = createHash('sha256').update(verifier).digest('base64url')
export const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
export const web = { client_id: 'web', client_secret: 's' }

export type Params = Readonly<Record<string, string | undefined>>

/** @param params changes to a valid request of the client `web`; undefined removes a parameter */
export function authorizePath(params: Params = {}): string {
  const defaults = { client_id: 'web', redirect_uri: redirectUri, response_type: 'code', state }
  const given = Object.entries({ ...defaults, ...params }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  )
  return `/oauth/authorize?${new URLSearchParams(given)}`
}

/** Decodes a token without verification. */
export function decode(jwt: string) {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8'))
}

/** Starts the app with clients for the authorization endpoint, and a browser. */
export async function startAuthorization() {
  const app = await startApp()
  const browser = createBrowser(app)
  const add = (name: string, changes: Parameters<typeof memoryClient>[1], secret?: string) =>
    app.clients.set(name, {
      client: memoryClient(name, { redirectURIs: [redirectUri], ...changes }),
      secret,
    })
  add('web', {}, 's')
  add('es256', { idTokenSigningAlg: 'ES256' }, 's')
  add('asks', { grantMethod: 'prompt' }, 's')
  add('denies', { grantMethod: 'deny' }, 's')
  add('none', { grantTypes: ['refresh_token'] }, 's')
  add('spa', { public: true, redirectURIs: [redirectUri, 'http://127.0.0.1/cb'] })
  const authorize = (params?: Params) => browser.get(authorizePath(params))
  return {
    app,
    browser,
    authorize,
    /** Returns a code for alice, and logs her in first if necessary. */
    async codeOf(params?: Params): Promise<string> {
      if (!browser.cookies.has('__Host-kapis-session')) await browser.logIn('alice', 'right')
      return locationOf(await authorize(params)).searchParams.get('code') ?? ''
    },
    exchange: (code: string, more: Readonly<Record<string, string>> = {}) =>
      app.token({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        ...('client_id' in more ? {} : web),
        ...more,
      }),
  }
}

export type Authorization = Awaited<ReturnType<typeof startAuthorization>>
