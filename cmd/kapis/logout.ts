import { parseArgs } from 'node:util'
import type { Command } from './command.ts'
import { withFileLock } from './session/file-lock.ts'
import { findServer } from './session/find-server.ts'
import { toError } from './session/http.ts'
import { discover } from './session/issuer.ts'
import { loginFile, readLogin, removeLogin } from './session/login-store.ts'
import { serverOptions, serverUsage } from './session/server.ts'

export const logout: Command = {
  usage: `[OPTION]…

Ends the login at the platform (RFC 7009) and forgets it here. Its tokens are refused from then on.

${serverUsage}`,
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options: serverOptions })
    const server = findServer(values, io)
    return withFileLock(loginFile(io.env, server.url), async () => {
      const login = readLogin(io.env, server.url)
      if (login === undefined) {
        io.err(`There is no login at ${server.url}.\n`)
        return 0
      }
      const issuer = await discover({ url: server.url, caFile: server.caFile || login.caFile })
      const client = { id: login.clientId, secret: login.clientSecret }
      // An access token that has expired ends nothing; the refresh token lives longer.
      const token = login.refreshToken || login.accessToken
      const answer = await issuer.post('revocation', client, { token })
      // Kept when it could not be ended: it can be tried again.
      if (answer.code !== 200) throw toError(answer, 'cannot end the login')
      removeLogin(io.env, server.url)
      io.err(`Logged out at ${server.url}.\n`)
      return 0
    })
  },
}
