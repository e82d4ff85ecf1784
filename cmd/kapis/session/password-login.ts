import type { Io } from '../command.ts'
import { type Client, type Issuer, toLogin } from './issuer.ts'
import type { StoredLogin } from './login-store.ts'
import { createPrompt } from './prompt.ts'

/** The password grant: for where there is no browser, and a client that is trusted with passwords. */
export async function passwordLogin(
  issuer: Issuer,
  client: Client,
  username: string,
  io: Io,
): Promise<StoredLogin> {
  const password = await createPrompt(io)(`Password of ${username}: `)
  const form = { grant_type: 'password', username, password, scope: 'openid' }
  return toLogin(issuer.server, client, await issuer.post('token', client, form), 'cannot log in')
}
