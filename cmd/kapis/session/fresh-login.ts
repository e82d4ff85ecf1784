import type { Io } from '../command.ts'
import { withFileLock } from './file-lock.ts'
import { parseJson } from './http.ts'
import { discover, toLogin } from './issuer.ts'
import { loginFile, readLogin, removeLogin, type StoredLogin, writeLogin } from './login-store.ts'
import type { Server } from './server.ts'

// A token that expires on its way would be refused; a clock may be off by this much.
const earlyMs = 60_000

/**
 * The login at a server with an access token that is good for a while. Refresh tokens are good once: of several kubectls
 * that find an old token one refreshes it, and the others wait for what it gets.
 *
 * @throws Error when there is no login, or it has ended
 */
export async function freshLogin(server: Server, { env }: Io): Promise<StoredLogin> {
  const known = readLogin(env, server.url)
  if (known === undefined) throw notLoggedIn(server)
  if (isFresh(known)) return known
  return withFileLock(loginFile(env, server.url), async () => {
    const login = readLogin(env, server.url)
    if (login === undefined) throw notLoggedIn(server)
    if (isFresh(login)) return login
    // The login's own authority, unless another one was named.
    const at = { url: server.url, caFile: server.caFile || login.caFile }
    const client = { id: login.clientId, secret: login.clientSecret }
    const issuer = await discover(at)
    const form = { grant_type: 'refresh_token', refresh_token: login.refreshToken }
    const answer = await issuer.post('token', client, form)
    if (answer.code === 400 && parseJson(answer).error === 'invalid_grant') {
      removeLogin(env, server.url)
      throw new Error(`the login has ended; \`kapis login --server ${server.url}\` begins another one`)
    }
    const next = toLogin(at, client, answer, 'cannot refresh the login')
    writeLogin(env, next)
    return next
  })
}

function isFresh({ expiresAtMs, accessToken }: StoredLogin): boolean {
  // Tokens of a life of two minutes or less are refreshed at half of it: here only the end is known.
  return accessToken !== '' && expiresAtMs - Date.now() > earlyMs
}

function notLoggedIn({ url }: Server): Error {
  return new Error(`there is no login at ${url}; \`kapis login --server ${url}\` begins one`)
}
