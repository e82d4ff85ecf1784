import { parseArgs } from 'node:util'
import type { Command, Io } from './command.ts'
import { findTarget, parseServer, type ServerValues, tokenFromEnvironment } from './session/find-login.ts'
import { loginNames } from './session/login-store.ts'
import { refreshLogin } from './session/refresh-login.ts'
import { serverOptions, serverUsage } from './session/server-address.ts'

const apiVersion = 'client.authentication.k8s.io/v1'

export const getToken: Command = {
  usage: `[OPTION]…

Prints the access token of the login as an ExecCredential for kubectl, and refreshes it when it is about to expire.
If KAPIS_TOKEN is set, it is printed instead.

${serverUsage}`,
  examples: `
  kapis get-token                                    # token of the current login
  kapis get-token --server https://kapis.example.org --context kapis
  kapis get-token | jq -r .status.token              # only the token
`,
  complete: () => [],
  values: { '--context': loginNames },
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options: serverOptions })
    return printToken(values, io)
  },
}

/** Prints an ExecCredential. kubectl runs the command again when the token has expired. */
export async function printToken(values: ServerValues, io: Io): Promise<number> {
  const token = tokenFromEnvironment(io, serverOf(values))
  const status = token === undefined ? await storedToken(values, io) : { token: token }
  io.out(`${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}\n`)
  return 0
}

function serverOf({ server }: ServerValues): string | undefined {
  return server === undefined ? undefined : parseServer(server, '--server')
}

async function storedToken(values: ServerValues, io: Io) {
  const isExact = values.server !== undefined && values.context === undefined
  const { accessToken, expiresAtMs } = await refreshLogin(findTarget(values, io, isExact), io)
  const expirationTimestamp = new Date(expiresAtMs).toISOString().replace(/\.\d+Z$/, 'Z')
  return { token: accessToken, expirationTimestamp }
}
