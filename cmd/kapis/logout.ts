import { parseArgs } from 'node:util'
import type { Command } from './command.ts'
import { findTarget } from './session/find-login.ts'
import { listLogins, loginNames } from './session/login-store.ts'
import { revokeLogin } from './session/revoke-login.ts'
import { serverOptions, serverUsage } from './session/server-address.ts'

export const logout: Command = {
  usage: `[OPTION]…

Revokes the login at the platform (RFC 7009) and deletes it from this machine. Its tokens become invalid. Its context stays in
the kubeconfig for the next login; \`kapis login remove\` removes it too.

${serverUsage}`,
  examples: `
  kapis logout                       # the current login
  kapis logout --context admin       # another login
`,
  complete: () => [],
  values: { '--context': loginNames },
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options: serverOptions })
    if (listLogins(io).length === 0) {
      io.err('Not logged in.\n')
      return 0
    }
    const { server, login } = findTarget(values, io)
    if (login === undefined) {
      io.err(`Not logged in at ${server.url}.\n`)
      return 0
    }
    await revokeLogin(login, server.ca, io)
    io.err(`Logged out at ${server.url}.\n`)
    return 0
  },
}
