import type { Io } from '../command.ts'
import type { Client, Issuer } from './issuer.ts'
import { Prompt } from './prompt.ts'
import { type Tokens, toTokens } from './token-response.ts'

/** Logs in by the password grant, for machines without a browser, with a trusted client. */
export async function passwordLogin(
  issuer: Issuer,
  client: Client,
  username: string,
  io: Io,
): Promise<Tokens> {
  const password = await Prompt.with(io, prompt => prompt.password(`Password of ${username}: `))
  const form = { grant_type: 'password', username, password, scope: 'openid' }
  return toTokens(client, await issuer.post('token', client, form), 'log in')
}
