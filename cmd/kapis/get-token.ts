import { parseArgs } from 'node:util'
import type { Command, Io } from './command.ts'
import { findServer } from './session/find-server.ts'
import { freshLogin } from './session/fresh-login.ts'
import { type Server, serverOptions, serverUsage } from './session/server.ts'

const apiVersion = 'client.authentication.k8s.io/v1'

export const getToken: Command = {
  usage: `[OPTION]…

Prints the access token of the login as an ExecCredential, for kubectl, and refreshes it when it is about to expire.

${serverUsage}`,
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options: serverOptions })
    return printToken(findServer(values, io), io)
  },
}

/** ExecCredential of client.authentication.k8s.io/v1. kubectl asks again once the token has expired, or was refused. */
export async function printToken(server: Server, io: Io): Promise<number> {
  const { accessToken, expiresAtMs } = await freshLogin(server, io)
  const expirationTimestamp = new Date(expiresAtMs).toISOString().replace(/\.\d+Z$/, 'Z')
  const status = { token: accessToken, expirationTimestamp }
  io.out(`${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}\n`)
  return 0
}
