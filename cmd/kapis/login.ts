import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Command, type Io, UsageError } from './command.ts'
import { printToken } from './get-token.ts'
import { browserLogin } from './session/browser-login.ts'
import { deviceLogin } from './session/device-login.ts'
import { withFileLock } from './session/file-lock.ts'
import { findServer } from './session/find-server.ts'
import { type Client, discover } from './session/issuer.ts'
import { kubeconfigPath, ownCommand, writeContext } from './session/kubeconfig.ts'
import { loginFile, type StoredLogin, writeLogin } from './session/login-store.ts'
import { passwordLogin } from './session/password-login.ts'
import { type Server, serverOptions, serverUsage } from './session/server.ts'

const options = {
  ...serverOptions,
  username: { type: 'string', short: 'u' },
  device: { type: 'boolean', default: false },
  'no-browser': { type: 'boolean', default: false },
  'exec-credential': { type: 'boolean', default: false },
  'client-id': { type: 'string' },
  'client-secret': { type: 'string' },
  kubeconfig: { type: 'string' },
  'no-kubeconfig': { type: 'boolean', default: false },
  context: { type: 'string' },
  'kube-server': { type: 'string' },
  'kube-ca': { type: 'string' },
} as const

export const login: Command = {
  usage: `[OPTION]…

Logs in, keeps the login for other commands, and adds a context to the kubeconfig in which kubectl signs on with it.

${serverUsage}  --device               with a code that is typed into a browser anywhere
  --username NAME, -u    with a password, asked for without an echo, or piped in
  --no-browser           do not start a browser; its address is printed in any case
  --client-id ID         OAuth client (kapis-cli; with --username KAPIS_CLIENT_ID, kapis)
  --client-secret TEXT   its secret, unless it is public (with --username KAPIS_CLIENT_SECRET)
  --kubeconfig FILE      the file to write to (KUBECONFIG, ~/.kube/config)
  --no-kubeconfig        write to none
  --context NAME         name of the context (kapis)
  --kube-server URL      kubectl talks to this kube-apiserver, which takes the platform's tokens, instead of the platform
  --kube-ca FILE         authority of its certificate
  --exec-credential      print the login that there is for kubectl, like \`kapis get-token\`
`,
  async run(args, io) {
    const { values } = parseArgs({ args: [...args], options })
    const server = findServer(values, io)
    if (values['exec-credential']) return printToken(server, io)
    if (values.device && values.username !== undefined)
      throw new UsageError('--device and --username are two ways; choose one')
    const cluster = findCluster(values, server)
    const issuer = await discover(server)
    const client = findClient(values, io)
    const begun = values.device
      ? await deviceLogin(issuer, client, io)
      : values.username !== undefined
        ? await passwordLogin(issuer, client, values.username, io)
        : await browserLogin(issuer, client, io, !values['no-browser'])
    await keep(begun, io)
    io.err(`Logged in at ${server.url}.\n`)
    if (values['no-kubeconfig']) return 0
    const file = values.kubeconfig ?? kubeconfigPath(io.env)
    const name = values.context ?? 'kapis'
    await writeContext(file, { name, cluster, platform: server, command: ownCommand() })
    io.err(`kubectl uses the context ${JSON.stringify(name)} of ${file}.\n`)
    return 0
  },
}

/**
 * Passwords are for clients that the platform trusts with them, which can prove themselves: what the environment names is
 * such a one. A browser brings people back to a port of this machine, and only a public client is brought back to any.
 */
function findClient(
  values: { 'client-id'?: string; 'client-secret'?: string; username?: string },
  { env }: Io,
): Client {
  const isPassword = values.username !== undefined
  const id = values['client-id'] ?? ((isPassword && env.KAPIS_CLIENT_ID) || undefined)
  const secret = values['client-secret'] ?? ((isPassword && env.KAPIS_CLIENT_SECRET) || undefined)
  if (!isPassword) return { id: id ?? 'kapis-cli', secret: secret ?? '' }
  return { id: id ?? 'kapis', secret: secret ?? (id === undefined ? 'kapis' : '') }
}

function findCluster(values: { 'kube-server'?: string; 'kube-ca'?: string }, platform: Server): Server {
  const url = values['kube-server']
  const ca = values['kube-ca'] ?? ''
  if (url === undefined) return platform
  if (!URL.canParse(url)) throw new UsageError(`--kube-server ${url}: must be a URL`)
  if (ca !== '' && !existsSync(ca)) throw new UsageError(`--kube-ca ${ca}: there is no such file`)
  return { url, caFile: ca === '' ? '' : resolve(ca) }
}

/** Under the lock that a kubectl holds which is refreshing the login before. */
async function keep(begun: StoredLogin, { env }: Io): Promise<void> {
  await withFileLock(loginFile(env, begun.url), () => writeLogin(env, begun))
}
