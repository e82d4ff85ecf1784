import type { Io } from '../command.ts'
import { withFileLock } from './file-lock.ts'
import { Connection, toError } from './http.ts'
import { discover } from './issuer.ts'
import { loginFile, readLogin, removeLogin, type StoredLogin } from './login-store.ts'

/** Revokes a login at its server (RFC 7009) and deletes it. @throws Error if the first fails */
export async function revokeLogin(known: StoredLogin, ca: string, io: Io): Promise<void> {
  await withFileLock(
    loginFile(io.env, known),
    async () => {
      // Read again, since another process may have refreshed the tokens.
      const login = readLogin(io.env, known) ?? known
      const issuer = await discover(new Connection({ url: login.url, ca }, io), login.issuer)
      const client = { id: login.clientId, secret: login.clientSecret }
      // The refresh token is valid longer; revoking an expired access token has no effect.
      const token = login.refreshToken || login.accessToken
      const response = await issuer.post('revocation', client, { token })
      if (response.status !== 200) throw toError(response, 'end the login')
      removeLogin(io.env, login)
    },
    { signal: io.signal },
  )
}
