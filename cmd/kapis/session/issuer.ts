import { type Answer, ask, parseJson, toError } from './http.ts'
import type { StoredLogin } from './login-store.ts'
import type { Server } from './server.ts'

/** An OAuth client; a public one has the secret ''. */
export type Client = { readonly id: string; readonly secret: string }

/** The endpoints of the platform's issuer, from its discovery document (RFC 8414). */
export type Issuer = {
  readonly server: Server
  readonly endpoint: (name: string) => string
  /** Posts a form with the client's credential to an endpoint. */
  readonly post: (endpoint: string, client: Client, form: Readonly<Record<string, string>>) => Promise<Answer>
}

const formType = 'application/x-www-form-urlencoded'

/** @throws Error when there is no issuer */
export async function discover(server: Server): Promise<Issuer> {
  const answer = await ask(server, '/oauth/.well-known/openid-configuration')
  const document = parseJson(answer)
  if (answer.code !== 200) throw toError(answer, 'cannot read what the issuer offers')
  const issuer: Issuer = {
    server,
    endpoint(name) {
      const url = document[`${name}_endpoint`]
      if (typeof url !== 'string') throw new Error(`the issuer has no ${name.replaceAll('_', ' ')} endpoint`)
      return url
    },
    post(name, { id, secret }, form) {
      const fields = { ...form, client_id: id, ...(secret === '' ? {} : { client_secret: secret }) }
      // Asked for where the server was found: its certificate may not name the host of the issuer.
      const { pathname } = new URL(issuer.endpoint(name))
      const body = String(new URLSearchParams(fields))
      return ask(server, pathname, { method: 'POST', headers: { 'content-type': formType }, body })
    },
  }
  return issuer
}

/** The login that a token answer (RFC 6749 section 5.1) begins or goes on with. @throws Error in the server's words */
export function toLogin({ url, caFile }: Server, client: Client, answer: Answer, what: string): StoredLogin {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = parseJson(answer)
  if (answer.code !== 200 || typeof accessToken !== 'string') throw toError(answer, what)
  return {
    url,
    caFile,
    clientId: client.id,
    clientSecret: client.secret,
    accessToken,
    refreshToken: typeof refreshToken === 'string' ? refreshToken : '',
    expiresAtMs: Date.now() + (typeof seconds === 'number' ? seconds : 0) * 1000,
  }
}
